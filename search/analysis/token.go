package analysis

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// A Form says what a token is to the text.
type Form uint8

// The forms. Words and Chars in their order are the text; the others stand
// beside them.
const (
	Word  Form = iota // a word, alone or between two joints of a name
	Char              // one character of a solid run
	Part              // what a word with humps is made of: use and effect of useEffect
	Whole             // a name as written, or its words run together
	Base              // a word without the number at its end: wsl of wsl2
	Pair              // two neighboring characters of a solid run
)

// InText says that the token is one of those that make up the text.
func (t Token) InText() bool { return t.Form == Word || t.Form == Char }

// A Token is one form under which a stretch of text is found.
type Token struct {
	Text       string // folded, at most 64 bytes
	Form       Form
	Start, End int // the bytes it stands for
}

// Tokens yields the tokens of a text in order.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for span := range Spans(text) {
			for tok := range span.Tokens() {
				if !yield(tok) {
					return
				}
			}
		}
	}
}

// Tokens yields the tokens of a span.
func (s Span) Tokens() iter.Seq[Token] {
	tokens := s.nameTokens
	if s.Solid {
		tokens = s.runTokens
	}
	return func(yield func(Token) bool) {
		tokens(func(tok Token) bool { return tok.Text == "" || yield(tok) })
	}
}

func (s Span) token(f Form, from, to int) Token {
	return Token{Text: form(s.Text[from:to]), Form: f, Start: s.Start + from, End: s.Start + to}
}

// runTokens works on the folded run, for there a half-width sound mark is one
// with its character. Byte ranges then only tell the run.
func (s Span) runTokens(yield func(Token) bool) {
	folded := unblank(Fold(s.Text))
	exact := len(folded) == len(s.Text)
	prev := -1
	for i := 0; i < len(folded); {
		_, n := utf8.DecodeRuneInString(folded[i:])
		if !yield(s.runToken(folded, Char, i, i+n, exact)) {
			return
		}
		if prev >= 0 && !yield(s.runToken(folded, Pair, prev, i+n, exact)) {
			return
		}
		prev = i
		i += n
	}
}

func (s Span) runToken(folded string, f Form, from, to int, exact bool) Token {
	t := Token{Text: folded[from:to], Form: f, Start: s.Start, End: s.End}
	if exact {
		t.Start, t.End = s.Start+from, s.Start+to
	}
	return t
}

func (s Span) nameTokens(yield func(Token) bool) {
	words, length := 0, 0
	for from, to := range s.words {
		words++
		length += to - from
		if !s.wordTokens(from, to, yield) {
			return
		}
	}
	if words == 1 && length == len(s.Text) {
		return
	}
	for _, whole := range wholes(form(s.Text), words) {
		if !yield(Token{Text: whole, Form: Whole, Start: s.Start, End: s.End}) {
			return
		}
	}
}

// words yields the byte ranges of the words in a name. An apostrophe ends a
// word before a possessive s, and is part of it otherwise only in English
// contractions.
func (s Span) words(yield func(from, to int) bool) {
	start := -1
	for i, r := range s.Text {
		if classOf(r) != jointRune {
			if start < 0 {
				start = i
			}
			continue
		}
		if start < 0 {
			continue
		}
		if isApostrophe(r) && isSuffix(s.Text[i:]) {
			yield(start, i)
			return
		}
		if !yield(start, i) {
			return
		}
		start = -1
	}
	if start >= 0 {
		yield(start, len(s.Text))
	}
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == '＇' }

// maxSuffix is more than any suffix has in bytes, wide letters included.
const maxSuffix = 8

// isSuffix says that rest is an apostrophe with a possessive or the second
// half of a contraction, up to the end of the name.
func isSuffix(rest string) bool {
	_, n := utf8.DecodeRuneInString(rest)
	if len(rest) > n+maxSuffix {
		return false // folding all of a long rest again and again would take for ever
	}
	switch Fold(rest[n:]) {
	case "s", "t", "re", "ve", "ll", "d", "m":
		return true
	}
	return false
}

// wholes are the forms of a whole name beside its words.
func wholes(name string, words int) []string {
	if i := strings.IndexByte(name, '\''); i > 0 && isSuffix(name[i:]) {
		if name[i:] == "'s" {
			return nil
		}
		return []string{name[:i] + name[i+1:]}
	}
	out := []string{name}
	if isVersion(name) {
		out = append(out, name[1:])
	}
	if joined := strings.Map(dropJoint, name); (words == 2 || words == 3) && joined != name {
		out = append(out, joined)
	}
	return out
}

// isVersion tells v1.26.8 from a word that begins with v.
func isVersion(name string) bool {
	return len(name) > 2 && name[0] == 'v' && name[1] >= '0' && name[1] <= '9'
}

func dropJoint(r rune) rune {
	if classOf(r) == jointRune {
		return -1
	}
	return r
}
