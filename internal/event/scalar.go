package event

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// quoted goes through a string.
func (f *form) quoted(v *string) {
	f.must(f.take(`"`))
	if f.reading {
		*v = f.readText()
	} else {
		f.buf = appendText(f.buf, *v)
	}
	f.must(f.take(`"`))
}

// readText reads a string up to its closing quote, which stays.
func (f *form) readText() string {
	n := plain(f.buf)
	if n < len(f.buf) && f.buf[n] == '"' {
		s := string(f.buf[:n])
		f.buf = f.buf[n:]
		return s
	}
	var out strings.Builder
	out.Grow(closingQuote(f.buf))
	for {
		out.Write(f.buf[:n])
		f.buf = f.buf[n:]
		if len(f.buf) == 0 || f.buf[0] == '"' {
			return out.String()
		}
		r, size := unescape(f.buf)
		if size == 0 {
			f.fail(ErrNotCanonical)
			return ""
		}
		out.WriteRune(r)
		f.buf = f.buf[size:]
		n = plain(f.buf)
	}
}

// closingQuote is where the string at the start of b ends.
func closingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(b)
}

// plain is how many bytes at the start of b stand for themselves in a string.
func plain[T string | []byte](b T) int {
	for i := range len(b) {
		switch c := b[i]; {
		case c < ' ', c == '"', c == '\\':
			return i
		case c == lineSeparator[0] && len(b) > i+2 && b[i+1] == lineSeparator[1] && b[i+2]&^1 == lineSeparator[2]:
			return i
		}
	}
	return len(b)
}

// lineSeparator and the character after it, the paragraph separator, end a
// line in JavaScript; encoding/json always escapes them.
const lineSeparator = "\u2028"

// appendText appends s as it stands between quotes. A byte that is not UTF-8
// becomes the escape of the replacement character, which never decodes.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return appendInvalid(b, s)
	}
	for {
		n := plain(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return b
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		b = appendEscape(b, r)
		s = s[n+size:]
	}
}

func appendInvalid(b []byte, s string) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b = appendEscape(b, r)
		} else {
			b = appendText(b, s[:size])
		}
		s = s[size:]
	}
	return b
}

// shortEscapes are the characters whose escape is one letter, and the letters.
const shortEscapes, shortLetters = "\"\\\b\f\n\r\t", `"\bfnrt`

func appendEscape(b []byte, r rune) []byte {
	for i := range len(shortEscapes) {
		if r == rune(shortEscapes[i]) {
			return append(b, '\\', shortLetters[i])
		}
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// unescape reads the escape at the start of b. The size is 0 if none is there,
// or one that is never written.
func unescape(b []byte) (r rune, size int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	if i := strings.IndexByte(shortLetters, b[1]); i >= 0 {
		return rune(shortEscapes[i]), 2
	}
	if len(b) < 6 || b[1] != 'u' {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	r = rune(code)
	if err != nil || plain(string(r)) > 0 || !bytes.HasPrefix(b, appendEscape(nil, r)) {
		return 0, 0
	}
	return r, 6
}

// integer goes through a whole number.
func (f *form) integer(v *int) {
	if !f.reading {
		f.buf = strconv.AppendInt(f.buf, int64(*v), 10)
		return
	}
	token := f.digits()
	var err error
	*v, err = strconv.Atoi(token)
	f.must(err == nil && strconv.Itoa(*v) == token)
}

// float goes through a number.
func (f *form) float(v *float64) {
	if f.reading {
		token := f.digits()
		var err error
		*v, err = strconv.ParseFloat(token, 64)
		written, fault := json.Marshal(*v)
		f.must(err == nil && fault == nil && string(written) == token)
		return
	}
	b, err := json.Marshal(*v)
	if err != nil {
		f.fail(err)
	}
	f.buf = append(f.buf, b...)
}

// digits takes what may belong to a number.
func (f *form) digits() string {
	n := 0
	for n < len(f.buf) && strings.IndexByte("+-.0123456789eE", f.buf[n]) >= 0 {
		n++
	}
	token := string(f.buf[:n])
	f.buf = f.buf[n:]
	return token
}

// moment goes through a time in the one form it has.
func (f *form) moment(t *Time) {
	if !f.reading {
		f.must(f.take(`"`, t.text(), `"`))
		return
	}
	var s string
	f.quoted(&s)
	v, err := time.Parse(timeLayout, s)
	t.Time = v
	f.must(err == nil && t.text() == s)
}
