package corpus_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/internal/corpus"
)

func TestTheNotesAreTheSameEverywhere(t *testing.T) {
	h := sha256.New()
	for _, n := range corpus.Notes(500) {
		fmt.Fprintf(h, "%q %q %q %q %s\n", n.Title, n.Text, n.Tags, n.Project, n.At)
	}
	// Figures of two versions can be compared only if they are of one corpus:
	// after a change here all of them have to be measured again.
	const want = "cbf6c37aceb96a59a461c58b4645a0490dd2d8e00db3507871e0255436a5a2f4"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("another corpus: %s", got)
	}
}

func TestMoreNotesBeginWithTheFewerOnes(t *testing.T) {
	few, more := corpus.Notes(50), corpus.Notes(80)
	if !reflect.DeepEqual(few, more[:50]) {
		t.Error("they differ")
	}
}

func TestNotesAreAsNotesAre(t *testing.T) {
	notes := corpus.Notes(3000)
	chinese, code, size := 0, 0, 0
	seen := map[string]bool{}
	for i, n := range notes {
		if n.Title == "" || n.Text == "" || len(n.Tags) == 0 || n.Project == "" || !utf8.ValidString(n.Title+n.Text) {
			t.Fatalf("not a whole note: %+v", n)
		}
		if i > 0 && !n.At.After(notes[i-1].At) {
			t.Fatal("a later note is not later")
		}
		if seen[n.Text] {
			t.Errorf("twice: %s", n.Text)
		}
		seen[n.Text] = true
		size += len(n.Text)
		if strings.Contains(n.Text, "。") {
			chinese++
		}
		if strings.ContainsAny(n.Text, "_/") {
			code++
		}
	}
	if chinese < len(notes)/20 || chinese > len(notes)/8 {
		t.Errorf("%d of %d are in Chinese", chinese, len(notes))
	}
	if code < len(notes)/4 {
		t.Errorf("only %d of %d have code in them", code, len(notes))
	}
	if mean := size / len(notes); mean < 200 || mean > 600 {
		t.Errorf("%d bytes a note", mean)
	}
}

func TestThereAreTenClasses(t *testing.T) {
	notes := corpus.Notes(2000)
	h := hold(notes)
	if n := len(corpus.Classes()); n != 10 {
		t.Fatalf("%d classes", n)
	}
	for _, class := range corpus.Classes() {
		t.Run(string(class), func(t *testing.T) {
			queries := corpus.Queries(notes, class, 30, 1)
			if len(queries) != 30 || !reflect.DeepEqual(queries, corpus.Queries(notes, class, 30, 1)) {
				t.Fatalf("not thirty, or not the same twice: %v", queries)
			}
			if reflect.DeepEqual(queries, corpus.Queries(notes, class, 30, 2)) {
				t.Error("another seed gives the same ones")
			}
			for _, q := range queries {
				if q.Class != class || !h.has(q) {
					t.Errorf("not a %s: %q", class, q.Text())
				}
			}
		})
	}
}

// held is the notes as a checker sees them.
type held struct {
	notes []corpus.Note
	words [][]string // of title and text, in small letters
}

func hold(notes []corpus.Note) held {
	h := held{notes: notes}
	for _, n := range notes {
		words := strings.Fields(strings.ToLower(n.Title + " " + n.Text))
		for i := range words {
			words[i] = strings.TrimRight(words[i], ".,:")
		}
		h.words = append(h.words, words)
	}
	return h
}

func (h held) withAll(want []string) (n int) {
	for _, words := range h.words {
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(words, w) }) {
			n++
		}
	}
	return n
}

func (h held) starting(prefix string) (n int) {
	for _, words := range h.words {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) }) {
			n++
		}
	}
	return n
}

func (h held) containing(text string) (n int) {
	for _, note := range h.notes {
		if strings.Contains(strings.ToLower(note.Text), text) {
			n++
		}
	}
	return n
}

// has says whether a query is of its class.
func (h held) has(q corpus.Query) bool {
	text, first := q.Text(), q.Words[0]
	switch q.Class {
	case corpus.Rare:
		return text == first && h.withAll(q.Words) >= 2 && h.withAll(q.Words) <= 3
	case corpus.Mid:
		return text == first && h.withAll(q.Words) >= 5 && h.withAll(q.Words) <= 20
	case corpus.Common:
		return text == first && h.withAll(q.Words) >= 60
	case corpus.TwoWords:
		return len(q.Words) == 2 && first != q.Words[1] && h.withAll(q.Words) >= 1
	case corpus.Prefix2, corpus.Prefix3, corpus.Prefix4:
		return text == first+"*" && strings.HasSuffix(string(q.Class), fmt.Sprint(len(first))) && h.starting(first) >= 1
	case corpus.Phrase:
		inner := strings.Trim(text, `"`)
		return len(inner) == len(text)-2 && len(q.Words) >= 2 && h.containing(inner) >= 1
	case corpus.Question:
		return strings.Count(text, " ") == 5 && h.withAll(q.Words[2:]) >= 1
	case corpus.Chinese:
		return utf8.RuneCountInString(text) < len(text) && h.containing(text) >= 1
	}
	return false
}

func TestTheCheckerKnowsAWrongQuery(t *testing.T) {
	h := hold(corpus.Notes(200))
	for _, q := range []corpus.Query{
		{Class: corpus.Rare, Words: []string{"error"}},
		{Class: corpus.Common, Words: []string{"nowhere"}},
		{Class: corpus.Prefix3, Words: []string{"er"}},
		{Class: corpus.Phrase, Words: []string{"nobody", "said"}},
		{Class: corpus.Question, Words: []string{"why"}},
		{Class: corpus.Chinese, Words: []string{"error"}},
		{Class: "another", Words: []string{"error"}},
	} {
		if h.has(q) {
			t.Errorf("it takes %q for a %s", q.Text(), q.Class)
		}
	}
}

// A hundred notes are enough to draw from.
func TestFewNotesWillDo(t *testing.T) {
	notes := corpus.Notes(100)
	for _, class := range corpus.Classes() {
		for _, q := range corpus.Queries(notes, class, 5, 3) {
			if strings.TrimSpace(strings.Join(q.Words, "")) == "" {
				t.Errorf("%s: an empty query", class)
			}
		}
	}
}
