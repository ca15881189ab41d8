package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minCoverage is how much of a question a note must hold if it holds none of
// its words outright, or if the question is a single word: else half of a name
// or a word that is merely similar would be an answer to anything.
//
// A run of a script without spaces may be a whole sentence, so it takes less,
// and least if each of its pairs of characters counts, see pairedShare.
const (
	minCoverage       = 0.4
	minPairedCoverage = 1.0 / 3
	minSolidCoverage  = 0.25
)

// fits says whether a document that holds something of the words is an answer.
func (p *plan) fits(words []*word, ref docRef) bool {
	if len(words) > 1 {
		words = longer(words)
		if slices.ContainsFunc(words, func(w *word) bool { return p.holdsOutright(w, ref) }) {
			return true
		}
	}
	return p.coverage(words, ref) >= leastCoverage(words[0])
}

// leastCoverage is the least coverage of an answer to a question of words like w.
func leastCoverage(w *word) float64 {
	switch {
	case w.paired:
		return minPairedCoverage
	case w.solid:
		return minSolidCoverage
	}
	return minCoverage
}

// isPaired is true for Chinese and Korean, most of whose words are of two
// characters.
func isPaired(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.Han, unicode.Hangul) })
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
	if w.paired {
		return p.pairedShare(w, ref)
	}
	var held float64
	for i, sources := range w.parts {
		if p.anyHolds(ref.part, ref.doc, sources) {
			held += float64(w.weights[i])
		}
	}
	if held == 0 && p.holdsKin(w, ref) {
		return kinShare
	}
	f := held / float64(w.weight)
	if !w.solid && (len(w.parts) == 2 || isNumber(w.texts)) {
		return f * f
	}
	return f
}

// pairedShare is how much of a run of characters a document holds. Of the run's
// pairs, which are its parts, about every other one is a word, and the rest lie
// across two words. So what is missing is counted by characters: one that is in
// no pair that the document holds is half a word, and of its two pairs the one
// that more notes hold is the likelier to be that word.
func (p *plan) pairedShare(w *word, ref docRef) float64 {
	var held, missed float64
	before := false // the document holds the pair that ends with the character
	for i := range len(w.parts) + 1 {
		holds := i < len(w.parts) && p.anyHolds(ref.part, ref.doc, w.parts[i])
		switch {
		case holds:
			held += float64(w.weights[i])
		case before:
		default:
			missed += float64(min(w.weights[max(i-1, 0)], w.weights[min(i, len(w.parts)-1)])) / 2
		}
		before = holds
	}
	return held / (held + missed)
}

// isNumber says that all parts of a name hold digits, as those of a version or
// an address do.
func isNumber(parts []string) bool {
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(text string) bool { return !hasDigit(text) })
}
