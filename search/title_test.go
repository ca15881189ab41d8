package search_test

import (
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/search"
)

// A title that was made of the beginning of a long line is no heading: its
// words count no more than those in the middle of the line. A title that
// somebody gave counts, and so does a first line of its own.
func TestABeginningOfTheTextIsNoHeading(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("filler words that say nothing much ", 4)
	beginning := func(body string) string { return strings.TrimSpace(body[:105]) }
	titled := func(n int, title, body string) search.Doc {
		d := note(n, body)
		d.Title = title
		return d
	}
	plain := "The heron rests. " + long
	multi := " \tThe heron\trests. " + long + "\nand a second line"
	for name, c := range map[string]struct {
		doc   search.Doc
		first bool // before a note that has the word in a short text
	}{
		"beginning":            {titled(9, beginning(plain), plain), false},
		"beginning, two lines": {titled(9, strings.ReplaceAll(beginning(strings.TrimSpace(multi)), "\t", " "), multi), false},
		"heading":              {titled(9, "The heron rests", plain), true},
		"whole first line":     {titled(9, strings.TrimSpace(plain), plain+"\nmore"), true},
		"another text":         {titled(9, beginning(plain), "Herons. "+long), true},
	} {
		x := open(t, t.TempDir())
		short := note(1, "a heron")
		apply(t, x, "team", short, c.doc)
		want := []event.ID{short.ID, c.doc.ID}
		if c.first {
			want = []event.ID{c.doc.ID, short.ID}
		}
		got := askWith(t, x, search.Query{Text: "heron"})
		if len(got) != 2 || got[0] != want[0] {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if got := askWith(t, x, search.Query{Text: "title:heron"}); len(got) != 1 || got[0] != c.doc.ID {
			t.Errorf("%s: title:heron finds %v", name, got)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
