package analysis

import (
	"slices"
	"strings"
	"sync"
)

// Kin are the stems of other words that people use for what a stem means; they
// must not be changed. To hold one is a hint, and less than to hold the word.
func Kin(stem string) []string { return kinOf()[stem] }

var kinOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(kin) {
		var group []string
		for _, word := range strings.Fields(line) {
			group = append(group, Stem(word))
		}
		for _, stem := range group {
			out[stem] = addKin(out[stem], stem, group)
		}
	}
	return out
})

func addKin(known []string, stem string, group []string) []string {
	for _, other := range group {
		if other != stem && !slices.Contains(known, other) {
			known = append(known, other)
		}
	}
	return known
}
