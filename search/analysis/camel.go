package analysis

import "unicode"

// maxCamel is the longest word in characters that is looked at for humps;
// longer ones are data, not names.
const maxCamel = 48

// wordTokens yields a word or, when it has humps, the words they make and
// then the whole.
func (s Span) wordTokens(from, to int, yield func(Token) bool) bool {
	cuts := humps(s.Text[from:to])
	if len(cuts) == 0 {
		return yield(s.token(Word, from, to))
	}
	start := from
	for _, cut := range cuts {
		if !yield(s.token(Word, start, from+cut)) {
			return false
		}
		start = from + cut
	}
	return yield(s.token(Word, start, to)) && yield(s.token(Whole, from, to))
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
