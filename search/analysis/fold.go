package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxForm is the longest form in bytes. Longer ones are cut, in notes and in
// questions alike, so that a key or a data URL cannot fill the index.
const maxForm = 64

// Fold makes the form of s under which it is compared: compatibility
// characters resolved, lower case, no diacritics, nothing invisible.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range strings.ToLower(norm.NFKD.String(s)) {
		if isDropped(r) {
			continue
		}
		if plain, ok := undecomposed[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// form is Fold cut to maxForm, without the spaces into which a few characters
// fold. It is empty if nothing is left.
func form(s string) string {
	f := unblank(Fold(s))
	if len(f) <= maxForm {
		return f
	}
	end := maxForm
	for end > 0 && !utf8.RuneStart(f[end]) {
		end--
	}
	return f[:end]
}

// unblank takes out what separates tokens.
func unblank(s string) string {
	if !strings.ContainsFunc(s, isBlank) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isBlank(r) {
			return -1
		}
		return r
	}, s)
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// undecomposed holds letters that readers take for another one although
// Unicode does not decompose them.
var undecomposed = map[rune]string{
	'ß': "ss", 'ς': "σ", 'ł': "l", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th",
	'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h", 'ŧ': "t", 'ŋ': "n",
	'’': "'", '‐': "-", '‑': "-", '⁄': "/",
}

// isDropped says that folding removes r: a mark that only changes how a
// Latin, Greek, Cyrillic, Hebrew or Arabic letter is read, or something
// invisible. Marks of other scripts are letters in all but name.
func isDropped(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r >= 0x300 && r <= 0x36f, r >= 0x591 && r <= 0x5c7, r >= 0x64b && r <= 0x65f:
		return true
	}
	return isInvisible(r)
}

func isInvisible(r rune) bool {
	switch {
	case r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff:
		return true
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
