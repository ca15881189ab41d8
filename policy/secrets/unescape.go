package secrets

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape takes one round of escapes off: of programming languages and JSON
// (\n \" \x41 \u0041 \u{41} \U00000041 \101), HTML (&#65; &#x41; &amp;) and
// URLs (%41, %u0041).
func unescape(v view) (view, bool) {
	if !bytes.ContainsAny(v.text, `\&%`) {
		return view{}, false
	}
	r := rewriter{in: v.text}
	var buf [16]byte
	for i := 0; i < len(v.text); i++ {
		var with []byte
		size := 0
		switch v.text[i] {
		case '\\':
			with, size = unescapeBackslash(buf[:0], v.text[i:])
		case '&':
			with, size = unescapeEntity(buf[:0], v.text[i:])
		case '%':
			with, size = unescapePercent(buf[:0], v.text[i:])
		}
		if size > 0 {
			r.replace(span{i, i + size}, with...)
			i += size - 1
		}
	}
	v.unescaped++
	return r.view(asUnescaped, v)
}

// simpleEscapes pairs the character behind a backslash with its meaning.
const simpleEscapes = "n\nt\tr\n\"\"''//\\\\b\x00f\x00a\x00v\n0\x00``"

func unescapeBackslash(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return nil, 0
	}
	switch s[1] {
	case 'u':
		return unescapeUnicode(dst, s)
	case 'U':
		return hexChar(dst, s, 2, 8)
	case 'x':
		if c, size := bracedChar(dst, s); size > 0 {
			return c, size
		}
		return hexByte(dst, s, 2)
	}
	if c, size := octalByte(dst, s); size > 0 {
		return c, size
	}
	for i := 0; i < len(simpleEscapes); i += 2 {
		if simpleEscapes[i] == s[1] {
			return append(dst, simpleEscapes[i+1]), 2
		}
	}
	return nil, 0
}

// unescapeUnicode reads \u0041, \u{41} and pairs of surrogates.
func unescapeUnicode(dst, s []byte) ([]byte, int) {
	if c, size := bracedChar(dst, s); size > 0 {
		return c, size
	}
	high, ok := hexValue(s, 2, 4)
	if !ok {
		return nil, 0
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, ok := hexValue(s, 8, 4); ok && utf16.IsSurrogate(high) {
			if char := utf16.DecodeRune(high, low); char != utf8.RuneError {
				return utf8.AppendRune(dst, char), 12
			}
		}
	}
	return utf8.AppendRune(dst, high), 6
}

// bracedChar reads \u{41} and \x{41}.
func bracedChar(dst, s []byte) ([]byte, int) {
	if len(s) < 5 || s[2] != '{' {
		return nil, 0
	}
	end := anyHex.after(s, 3, 6)
	if end == 3 || end >= len(s) || s[end] != '}' {
		return nil, 0
	}
	char, _ := hexValue(s, 3, end-3)
	return utf8.AppendRune(dst, char), end + 1
}

func octalByte(dst, s []byte) ([]byte, int) {
	if len(s) < 4 || s[1] < '0' || s[1] > '3' {
		return nil, 0
	}
	v := 0
	for _, c := range s[1:4] {
		if c < '0' || c > '7' {
			return nil, 0
		}
		v = v<<3 | int(c-'0')
	}
	return append(dst, byte(v)), 4
}

var entities = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\'', "nbsp": ' ',
	"sol": '/', "colon": ':', "equals": '=', "lowbar": '_', "hyphen": '-', "dash": '-', "period": '.', "num": '#', "commat": '@', "plus": '+'}

func unescapeEntity(dst, s []byte) ([]byte, int) {
	end := bytes.IndexByte(s[:min(len(s), 12)], ';')
	if end < 3 {
		return nil, 0
	}
	name := string(s[1:end])
	if c, ok := entities[name]; ok {
		return append(dst, c), end + 1
	}
	if name[0] != '#' {
		return nil, 0
	}
	if strings.ContainsRune("xX", rune(name[1])) {
		return hexChar(dst, s[:end+1], 3, end-3)
	}
	char := rune(0)
	for _, c := range name[1:] {
		if c < '0' || c > '9' {
			return nil, 0
		}
		char = char*10 + c - '0'
	}
	return utf8.AppendRune(dst, char), end + 1
}

func unescapePercent(dst, s []byte) ([]byte, int) {
	if len(s) > 1 && s[1] == 'u' {
		return hexChar(dst, s, 2, 4)
	}
	return hexByte(dst, s, 1)
}

// hexByte reads two hexadecimal digits at from as one byte.
func hexByte(dst, s []byte, from int) ([]byte, int) {
	v, ok := hexValue(s, from, 2)
	if !ok {
		return nil, 0
	}
	return append(dst, byte(v)), from + 2
}

// hexChar reads n hexadecimal digits at from as one character, and a closing
// semicolon if there is one.
func hexChar(dst, s []byte, from, n int) ([]byte, int) {
	v, ok := hexValue(s, from, n)
	if !ok {
		return nil, 0
	}
	end := from + n
	if s[0] == '&' {
		end++
	}
	return utf8.AppendRune(dst, v), end
}

func hexValue(s []byte, from, n int) (rune, bool) {
	if n < 1 || n > 8 || from+n > len(s) {
		return 0, false
	}
	v := rune(0)
	for _, c := range s[from : from+n] {
		if !anyHex[c] {
			return 0, false
		}
		v = v<<4 | rune(hexDigit(c))
	}
	return v, true
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// readQuotedPrintable takes quoted-printable off (RFC 2045): =41 and soft line
// ends. It is a view of its own because "=" stands before values everywhere: the 10
// of timeout=10m is no control character, the fa of x=false no letter, as one beyond
// ASCII takes two bytes, and the 21 that ends size=21 a number.
func readQuotedPrintable(v view) (view, bool) {
	r := rewriter{in: v.text}
	for i := 0; i+1 < len(v.text); i++ {
		if v.text[i] != '=' {
			continue
		}
		end := i + 1
		if v.text[end] == '\r' {
			end++
		}
		if end < len(v.text) && v.text[end] == '\n' {
			r.replace(span{i, end + 1})
			i = end
			continue
		}
		if c, ok := hexValue(v.text, i+1, 2); ok && (c >= ' ' || spaces[byte(c)]) && (c < 0x80 || besideHigh(v.text, i)) && !isSetting(v.text, i) {
			r.replace(span{i, i + 3}, byte(c))
			i += 2
		}
	}
	return r.view(asQuotedPrintable, v)
}

// besideHigh says that before or behind the three bytes at i another three stand
// for a byte beyond ASCII.
func besideHigh(text []byte, i int) bool {
	isHigh := func(at int) bool {
		if at < 0 || at >= len(text) || text[at] != '=' {
			return false
		}
		c, ok := hexValue(text, at+1, 2)
		return ok && c >= 0x80
	}
	return isHigh(i-3) || isHigh(i+3)
}

// isSetting says that the sign at i stands between a name and a number, with or
// without a unit, which ends there: it would be the end of something encoded
// otherwise, and that has another such sign before it, or is itself a name.
func isSetting(text []byte, i int) bool {
	const shortest, unit = 4, 2
	number := digits.after(text, i+1, len(text))
	end := letters.after(text, number, unit)
	return number >= i+3 && !base62.at(text, end) && (end == len(text) || text[end] != '=' && text[end] != ':') &&
		i-nameChars.before(text, i, maxName) >= shortest && (i < 3 || text[i-3] != '=')
}
