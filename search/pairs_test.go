package search_test

import (
	"fmt"
	"testing"

	"cairn/search"
)

// A group of pairs holds other pairs too, and every long note is in all groups:
// only what stands in a row is a phrase.
func TestAGroupOfPairsIsNoPhrase(t *testing.T) {
	x := open(t, t.TempDir())
	other := ""
	for i := 0; other == ""; i++ {
		if w := fmt.Sprintf("w%d", i); search.PairGroup("granite", w) == search.PairGroup("granite", "pond") {
			other = w
		}
	}
	stray := note(1, "a pond, and granite "+other)
	right := note(2, "the granite pond")
	apply(t, x, "team", stray, right)
	wantHits(t, ask(t, x, `"granite pond"`), right)
	wantHits(t, ask(t, x, `"granite `+other+`"`), stray)
}

// Groups are kept by the index: another function needs another schema.
func TestThePairGroupsStayAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want uint32
	}{{"granite", "pond", 2833}, {"", "", 2675}, {"记忆", "x", 3318}} {
		if got := search.PairGroup(c.a, c.b); got != c.want {
			t.Errorf("group of %q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
