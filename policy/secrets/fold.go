package secrets

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// fold reads a text as it looks: what shows nothing is dropped (by Unicode
// property, not by a list of characters), accents and compatibility forms are
// taken off, and letters of other scripts that look like ASCII become it.
// Plain text without any of that has no folded view.
func fold(v view) (view, bool) {
	r := rewriter{in: v.text}
	var buf [utf8.UTFMax]byte
	for i := 0; i < len(v.text); {
		if c := v.text[i]; ' ' <= c && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		char, size := utf8.DecodeRune(v.text[i:])
		with, changed := foldRune(buf[:0], v.text[i:i+size], char)
		if changed {
			r.replace(span{i, i + size}, with...)
		}
		i += size
	}
	return r.view(asFolded, v)
}

// foldRune appends what char, which is encoded as raw, is read as.
func foldRune(dst, raw []byte, char rune) (folded []byte, changed bool) {
	switch {
	case char == utf8.RuneError || showsNothing(char):
		return dst, true
	case '\u4e00' <= char && char <= '\u9fff':
		return dst, false
	case char == '\u0085' || char == '\u2028' || char == '\u2029':
		return append(dst, '\n'), true
	}
	if ascii := lookAlike(char); ascii != 0 {
		return append(dst, ascii), true
	}
	parts := norm.NFKD.Properties(raw).Decomposition()
	if parts == nil {
		return dst, false
	}
	for _, c := range string(parts) {
		if showsNothing(c) {
			continue
		}
		if ascii := lookAlike(c); ascii != 0 {
			c = rune(ascii)
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst, true
}

// invisible holds formats, marks, and the letters and fillers that Unicode
// says to ignore.
var invisible = sync.OnceValue(func() *unicode.RangeTable {
	return rangetable.Merge(unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
})

// showsNothing reports characters without a glyph of their own.
func showsNothing(c rune) bool {
	if c <= unicode.MaxLatin1 {
		return c != '\n' && c != '\t' && c != '\u0085' && (unicode.IsControl(c) || c == '\u00ad')
	}
	return unicode.Is(invisible(), c)
}

// Tags are invisible copies of ASCII (U+E0020 to U+E007E).
const (
	firstTag = '\U000e0020'
	lastTag  = '\U000e007e'
)

// readTags is a second reading of a text with tag characters: as the ASCII
// they copy.
func readTags(v view) (view, bool) {
	r := rewriter{in: v.text}
	for i := 0; i < len(v.text); {
		if v.text[i] < utf8.RuneSelf {
			i++
			continue
		}
		char, size := utf8.DecodeRune(v.text[i:])
		if firstTag <= char && char <= lastTag {
			r.replace(span{i, i + size}, byte(char-firstTag+' '))
		}
		i += size
	}
	return r.view(asTags, v)
}
