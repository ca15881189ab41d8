package analysis_test

import (
	"testing"

	"pgregory.net/rapid"

	"cairn/search/analysis"
)

// Whoever looks for words by their first letter misses none but those that are
// called irregular.
func TestStemsBeginAsTheirWordsDo(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, word string) {
		if stem := analysis.Stem(word); !analysis.IsIrregular(word) && (stem == "" || stem[0] != word[0]) {
			t.Fatalf("the stem of %q is %q", word, stem)
		}
	}
	for _, word := range []string{"dying", "lying", "skies", "idly", "only", "inning", "exceed", "ions", "yes", "yyyyyy", "eeeeee", "ssssss"} {
		check(t, word)
	}
	letters := rapid.OneOf(rapid.StringMatching(`[a-z]{1,12}`), rapid.StringMatching(`[aeiouyst]{4,9}(ing|ed|s|ly|ies|ation|ness|ful)`), rapid.StringN(1, 12, -1))
	rapid.Check(t, func(t *rapid.T) { check(t, letters.Draw(t, "word")) })
	if !analysis.IsIrregular("went") {
		t.Error("went is taken for a word of its own stem")
	}
}
