package search_test

import (
	"fmt"
	"strings"
	"testing"

	"cairn/search"
)

// What an answer says of filters that no note fits does not grow with the
// question, and says nothing twice.
func TestFewFiltersAreNamedThatNoNoteFits(t *testing.T) {
	t.Parallel()
	x := open(t, t.TempDir())
	apply(t, x, "team", note(1, "the heron rests"))
	for format, want := range map[string]int{"tag:none ": 1, "tag:none%d ": 4} {
		var text strings.Builder
		for i := range 200 {
			text.WriteString(strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
		}
		r, err := x.Ask(t.Context(), search.Query{Text: text.String() + "heron"})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(r.Note, "no note has"); n != want || len(r.Hits) > 0 {
			t.Errorf("200 times %q names %d filters, want %d: %q", format, n, want, r.Note)
		}
	}
}
