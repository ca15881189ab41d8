package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the most characters of a title made from a text.
const maxTitle = 120

// untitled is the title of a text without a word to show.
const untitled = "(untitled)"

// completeTitle is a title on one line, made from the text if none is given.
// One that is not UTF-8 stays as it is, to be refused.
func completeTitle(given, text string) string {
	if !utf8.ValidString(given) {
		return given
	}
	if t := oneLine(given); t != "" {
		return t
	}
	return titleOf(text)
}

// titleOf is the first line of text that says something, cut at a word.
func titleOf(text string) string {
	for line := range strings.Lines(text) {
		if t := oneLine(line); t != "" {
			return cutAtWord(t, maxTitle)
		}
	}
	return untitled
}

// oneLine is s as valid UTF-8 without control characters or white space
// around it.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// cutAtWord keeps at most limit characters of s and no part of a word, unless
// the first word is longer.
func cutAtWord(s string, limit int) string {
	n := 0
	for i, r := range s {
		if n == limit {
			return cutBefore(s[:i], r)
		}
		n++
	}
	return s
}

// cutBefore is head, which next follows, without the word that next belongs
// to.
func cutBefore(head string, next rune) string {
	if unicode.IsSpace(next) {
		return strings.TrimSpace(head)
	}
	if space := strings.LastIndexFunc(head, unicode.IsSpace); space > 0 {
		return strings.TrimSpace(head[:space])
	}
	return head
}
