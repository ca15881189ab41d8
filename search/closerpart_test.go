package search

import (
	"fmt"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/search/analysis"
)

// A look relies on it: it makes text only of words that begin like the stem of
// what is sought, and these are too short for that.
func TestShortWordsAreTheirOwnStems(t *testing.T) {
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			for _, word := range []string{string(a), string([]rune{a, b})} {
				if stem := analysis.Stem(word); stem != word {
					t.Errorf("the stem of %q is %q", word, stem)
				}
			}
		}
	}
}

// What is beyond maxLook earns nothing, wherever the texts are cut off.
func TestALookEndsInALongText(t *testing.T) {
	o, b := newOracle(), Batch{Space: "team"}
	for i := range 40 {
		before := strings.Repeat("cobalt heron ", maxLook/2-38+i)
		body := before + strings.Repeat("x", i%13) + " granite " + strings.Repeat("walnut ", i%4) + "pond"
		b.Put = append(b.Put, Doc{ID: event.ID(fmt.Sprintf("%026d", i)), Title: fmt.Sprint("note ", i), Body: body})
	}
	o.apply(b)
	x, err := Open(t.TempDir(), Unsynced(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"granite pond", "heron granite", "pond granite walnuts", "x granite"} {
		q := Query{Text: text, Limit: 40}
		got, err := x.Ask(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := o.ask(q)
		scores := map[float64]bool{}
		for i := range want {
			scores[want[i].Score] = true
			if got.Hits[i].ID != want[i].ID || got.Hits[i].Score != want[i].Score {
				t.Fatalf("%q: hit %d is %v, want %v", text, i, got.Hits[i], want[i])
			}
		}
		if len(scores) < 2 {
			t.Errorf("%q: all of %d scores are the same", text, len(want))
		}
	}
}
