package icefile_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/search/icefile"
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
	s, _, err := icefile.New(docs, norm)
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
		err := words.Stored(uint32(doc), func(values []icefile.Value) {
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
