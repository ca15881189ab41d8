package analysis

import (
	"strings"
	"unicode"
)

// maxCamel is the longest word in characters that is looked at for humps;
// longer ones are data, not names.
const maxCamel = 48

// wordTokens yields the parts of a word with humps, and the word.
func (s Span) wordTokens(from, to int, yield func(Token) bool) bool {
	start := from
	for _, cut := range humps(s.Text[from:to]) {
		if !s.yieldWord(Part, start, from+cut, yield) {
			return false
		}
		start = from + cut
	}
	if start > from && !s.yieldWord(Part, start, to, yield) {
		return false
	}
	return s.yieldWord(Word, from, to, yield)
}

func (s Span) yieldWord(f Form, from, to int, yield func(Token) bool) bool {
	if !yield(s.token(f, from, to)) {
		return false
	}
	n := baseLen(s.Text[from:to])
	return n == 0 || yield(s.token(Base, from, from+n))
}

// baseLen is the length of the letters in a word that is letters and a number
// of one or two digits, such as a version; otherwise 0.
func baseLen(word string) int {
	n := len(strings.TrimRight(word, "0123456789"))
	if digits := len(word) - n; digits == 0 || digits > 2 || n < 2 {
		return 0
	}
	for _, r := range word[:n] {
		if !unicode.IsLetter(r) {
			return 0
		}
	}
	return n
}

// humps are the places in bytes at which a word falls into parts: before a
// capital that follows a small letter or a digit, and before the last of
// several capitals when a small letter follows it, as in HTTPServer. A lone
// capital stays with what follows it, as in OAuth.
func humps(word string) []int {
	if !hasInnerCapital(word) {
		return nil
	}
	runes, at := runesOf(word)
	if len(runes) > maxCamel {
		return nil
	}
	var cuts []int
	start := 0
	for i := 1; i < len(runes); i++ {
		if !isHump(runes, i) || i-start == 1 && unicode.IsUpper(runes[start]) {
			continue
		}
		cuts = append(cuts, at[i])
		start = i
	}
	return cuts
}

func isHump(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

func hasInnerCapital(word string) bool {
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

func runesOf(word string) (runes []rune, at []int) {
	for i, r := range word {
		runes = append(runes, r)
		at = append(at, i)
	}
	return runes, at
}
