package search

import (
	"slices"
	"unicode/utf8"
)

// minCoverage is how much of a question a note must hold if it holds none of
// its words outright, or if the question is a single word: else half of a name
// or a word that is merely similar would be an answer to anything.
//
// A run of a script without spaces may be a whole sentence, so it takes less.
const (
	minCoverage      = 0.4
	minSolidCoverage = 0.25
)

// fits says whether a document that holds something of the words is an answer.
func (p *plan) fits(words []*word, ref docRef) bool {
	if len(words) > 1 {
		words = longer(words)
		if slices.ContainsFunc(words, func(w *word) bool { return p.holdsOutright(w, ref) }) {
			return true
		}
	}
	if words[0].solid {
		return p.coverage(words, ref) >= minSolidCoverage
	}
	return p.coverage(words, ref) >= minCoverage
}

// longer are words without the single characters that are left between turns
// of phrase in a script without spaces, unless there are no others.
func longer(words []*word) []*word {
	if !slices.ContainsFunc(words, isCharacter) {
		return words
	}
	if rest := slices.DeleteFunc(slices.Clone(words), isCharacter); len(rest) > 0 {
		return rest
	}
	return words
}

func isCharacter(w *word) bool {
	return w.solid && len(w.texts) == 1 && utf8.RuneCountInString(w.texts[0]) == 1
}

// holdsOutright is true for a word itself, not for one that begins with it or
// is similar, and for a whole name.
func (p *plan) holdsOutright(w *word, ref docRef) bool {
	if p.anyHolds(ref.part, ref.doc, w.whole) {
		return true
	}
	for _, sources := range w.parts {
		if !p.sources[sources[0]].contains(ref.part, ref.doc) {
			return false
		}
	}
	return true
}

// coverage is how much of what the words say a document holds, from 0 to 1.
func (p *plan) coverage(words []*word, ref docRef) float64 {
	var held, all float64
	for _, w := range words {
		held += float64(w.weight) * p.share(w, ref)
		all += float64(w.weight)
	}
	return held / all
}

// share is how much of a word a document holds. Half of a name of two parts
// says little, and so does a part of a number, such as the 4 of 99.4.1.
func (p *plan) share(w *word, ref docRef) float64 {
	if p.anyHolds(ref.part, ref.doc, w.whole) {
		return 1
	}
	var held float64
	for i, sources := range w.parts {
		if p.anyHolds(ref.part, ref.doc, sources) {
			held += float64(w.weights[i])
		}
	}
	f := held / float64(w.weight)
	if !w.solid && (len(w.parts) == 2 || isNumber(w.texts)) {
		return f * f
	}
	return f
}

// isNumber says that all parts of a name hold digits, as those of a version or
// an address do.
func isNumber(parts []string) bool {
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(text string) bool { return !hasDigit(text) })
}
