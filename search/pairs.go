package search

import (
	"sync"

	"cairn/search/analysis"
)

// Two words in a row put a note into one of pairGroups groups, by what they
// hash to. Other notes are in the group too, so what stands in a row is looked
// up in the stored text; but those are few beside the notes that hold both
// words anywhere, above all if one of them is in most notes. So many groups
// take a few bytes a note, and no dictionary of pairs.
const pairGroups = 1 << 12

// pairGroup is the group of a word and the next.
func pairGroup(a, b string) uint32 {
	h := fnvStart
	for i := range len(a) {
		h = (h ^ uint32(a[i])) * fnvPrime
	}
	h = (h ^ ' ') * fnvPrime
	for i := range len(b) {
		h = (h ^ uint32(b[i])) * fnvPrime
	}
	return (h ^ h>>16) % pairGroups
}

// FNV-1a of 32 bits. The index keeps what comes of it.
const (
	fnvStart uint32 = 2166136261
	fnvPrime uint32 = 16777619
)

// pairKeys are the terms of the groups, without a level. Commands that search
// nothing do without them.
var pairKeys = sync.OnceValue(func() *[pairGroups]string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	var keys [pairGroups]string
	for g := range keys {
		keys[g] = termKey(pairTerm, digits[g/len(digits):][:1]+digits[g%len(digits):][:1])
	}
	return &keys
})

// arePaired says whether two words in a row are in a group. Those of scripts
// without spaces are terms of their own.
func arePaired(a, b string) bool { return !analysis.IsSolid(a) || !analysis.IsSolid(b) }
