package segfile_test

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/search/segfile"
)

// wordy is documents with a stored text each, in words of which some come in
// most of them, and so many twice that there are numbers of every length.
func wordy(docs int) (out []segment.Document, texts []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range docs {
		var b strings.Builder
		for range 30 {
			fmt.Fprintf(&b, "word%d ", int(r.ExpFloat64()*r.ExpFloat64()*4000))
		}
		fmt.Fprintf(&b, "only%d  \n\x02 %s 日本 end%d", i, strings.Repeat("long", i%40), i%3)
		texts = append(texts, b.String())
		out = append(out, &document{fields: []field{
			{name: "_id", terms: []string{fmt.Sprintf("doc%06d", i)}}, {name: "s", value: []byte(texts[i])},
		}})
	}
	return out, texts
}

func made(t interface{ Fatal(...any) }, docs []segment.Document) segment.Segment {
	s, _, err := segfile.New(docs, norm)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTextsInWordsOfEveryLengthReadAsTheyWere(t *testing.T) {
	docs, texts := wordy(6000)
	whole := made(t, docs)
	words := wordsOf(t, whole)
	for doc, want := range texts {
		err := words.Stored(uint32(doc), func(values []segfile.Value) {
			if len(values) != 1 || string(values[0].Bytes) != want {
				t.Errorf("document %d has %q, want %q", doc, values, want)
			}
		})
		if err != nil || t.Failed() {
			t.Fatal(doc, err)
		}
	}
	if all := len(strings.Join(texts, "")); len(written(t, whole)) > all*3/4 {
		t.Errorf("%d bytes of %d: words have no numbers", len(written(t, whole)), all)
	}
}

// Which words have numbers, and which, is not a matter of how the documents came
// together.
func TestMergedTextsAreThoseOfOneSegment(t *testing.T) {
	docs, _ := wordy(6000)
	drop := roaring.New()
	stay := docs[:0:0]
	for i, d := range docs {
		if i%7 == 0 && i < 4000 {
			drop.Add(uint32(i))
		} else {
			stay = append(stay, d)
		}
	}
	got := merged(t, []*roaring.Bitmap{drop, nil, nil}, made(t, docs[:4000]), made(t, docs[4000:4001]), made(t, docs[4001:]))
	if !bytes.Equal(got, written(t, made(t, stay))) {
		t.Error("the merged segment is not the one of all documents that stay")
	}
}

// There are numbers of every length, and each word is found by it and by how it
// begins.
func TestWordsAreLookedUpByWhatTheyBeginWith(t *testing.T) {
	docs, texts := wordy(6000)
	words := wordsOf(t, made(t, docs))
	named := map[string]uint32{} // what has a number
	lengths := map[int]int{}
	for doc := range texts {
		for code, word := range eachWord(t, words, uint32(doc)) {
			if word != nil {
				continue
			}
			text := string(words.Word(code))
			if known, ok := named[text]; ok && known != code {
				t.Fatalf("%q is %d and %d", text, known, code)
			}
			named[text] = code
			lengths[len(words.Code(nil, words.Word(code)))]++
		}
	}
	for _, n := range []int{1, 2, 3} {
		if lengths[n] == 0 {
			t.Errorf("no word has a number of %d bytes: %v", n, lengths)
		}
	}
	for _, starts := range [][]string{{""}, {"word1"}, {"word39", "\n"}, {" "}, {"only"}, {"word1 ", "z"}, {"日"}, {"x"}, {"word", "end1"}, {}} {
		set := words.Begun(starts)
		for text, code := range named {
			want := slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
			if set.Has(code) != want {
				t.Errorf("%q among what begins with %q: %v", text, starts, !want)
			}
		}
	}
}

// Skipping is taking words that are not sought one by one.
func TestWordsThatAreNotSoughtAreSkipped(t *testing.T) {
	docs, texts := wordy(6000)
	words := wordsOf(t, made(t, docs))
	for doc := range uint32(len(texts)) {
		set := words.Begun([]string{[]string{"word1", "word22", "\n", "x", ""}[doc%5]})
		text, _, err := words.Coded(doc, "s")
		if err != nil {
			t.Fatal(err)
		}
		most := 1 + int(doc)%9
		skipped := text.Skip(set, most)
		passed := skipped
		for code, word := range eachWord(t, words, doc) {
			if skipped > 0 {
				if skipped--; word != nil || set.Has(code) {
					t.Fatalf("document %d: %d %q was skipped", doc, code, word)
				}
				continue
			}
			gotCode, gotWord, err := text.Next()
			if err != nil || gotCode != code || !bytes.Equal(gotWord, word) || word == nil && !set.Has(code) && passed < most {
				t.Fatalf("document %d: %d %q, %v; want %d %q, and that it was sought", doc, gotCode, gotWord, err, code, word)
			}
			skipped = text.Skip(set, most)
			passed = skipped
		}
		if skipped != 0 || text.Left() != 0 {
			t.Fatalf("document %d: %d words and %d bytes too many", doc, skipped, text.Left())
		}
	}
}

// eachWord is the numbers and the words of the stored text of a document.
func eachWord(t *testing.T, words *segfile.Dictionary, doc uint32) iter.Seq2[uint32, []byte] {
	t.Helper()
	text, ok, err := words.Coded(doc, "s")
	if err != nil || !ok {
		t.Fatal(doc, ok, err)
	}
	return func(yield func(uint32, []byte) bool) {
		for text.Left() > 0 {
			code, word, err := text.Next()
			if err != nil {
				t.Fatal(doc, err)
			}
			if !yield(code, word) {
				return
			}
		}
	}
}

// A row of words is found where it stands in the text, and nowhere else, for all
// that its bytes may also be those within other words.
func TestRowsOfWordsAreFoundAsInTheText(t *testing.T) {
	docs, texts := wordy(6000)
	words := wordsOf(t, made(t, docs))
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 20_000 {
		of, in := texts[r.IntN(len(texts))], r.IntN(len(texts))
		if r.IntN(2) == 0 {
			of = texts[in]
		}
		row := strings.SplitAfter(of, " ")
		row = row[:len(row)-1] // the last does not end in a space
		from := r.IntN(len(row))
		some := strings.Join(row[from:min(from+1+r.IntN(3), len(row))], "")
		text, _, err := words.Coded(uint32(in), "s")
		if err != nil {
			t.Fatal(err)
		}
		got, err := text.After(words.Code(nil, []byte(some)))
		if want := strings.Contains(texts[in], " "+some); got != want || err != nil {
			t.Fatalf("%q in %q: %v, %v", some, texts[in], got, err)
		}
		if got {
			found++
		}
	}
	if found < 5000 || found > 19_000 {
		t.Errorf("%d of 20000 were found", found)
	}
}
