package wordpiece

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// cleaning is what happens to a text before it is cut.
type cleaning struct {
	control    bool // control characters go
	ideographs bool // each is a word of its own
	accents    bool // go
	lower      bool
}

// words calls fn with each word and each punctuation mark until it returns
// false.
func (t *Tokenizer) words(text string, fn func(string) bool) {
	var word strings.Builder
	flush := func() bool {
		w := word.String()
		word.Reset()
		return w == "" || fn(w)
	}
	for field := range strings.FieldsFuncSeq(text, blank) {
		for _, r := range t.clean.text(field) {
			alone := punctuation(r) || t.clean.ideographs && ideograph(r)
			if alone && !flush() {
				return
			}
			word.WriteRune(r)
			if alone && !flush() {
				return
			}
		}
		if !flush() {
			return
		}
	}
}

func (c cleaning) text(s string) string {
	if c.control {
		s = strings.Map(func(r rune) rune {
			if r == unicode.ReplacementChar || unicode.Is(unicode.C, r) {
				return -1
			}
			return r
		}, s)
	}
	if c.accents {
		s = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(s))
	}
	if c.lower {
		s = strings.ToLower(s)
	}
	return s
}

func blank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) }

// punctuation is what BERT takes for it: all of ASCII that is no letter, digit
// or control character, and what Unicode calls so.
func punctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.Is(unicode.P, r)
}

// ideograph is what BERT takes for a Chinese character; the ranges are those of
// its tokenizer.
func ideograph(r rune) bool {
	for _, block := range [...][2]rune{
		{0x4e00, 0x9fff}, {0x3400, 0x4dbf}, {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
		{0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff}, {0x2f800, 0x2fa1f},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}
