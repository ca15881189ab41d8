package splice

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cairn/internal/lazyregexp"
)

// jsonAtom is what JSON5 allows for a value that is neither quoted nor bracketed.
var jsonAtom = lazyregexp.New(
	`^(null|true|false|[+-]?(Infinity|NaN|0[xX][0-9a-fA-F]+|(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?))`)

func (p *jsonParser) atom() (string, error) {
	text := jsonAtom().FindString(p.text[p.at:])
	if text == "" {
		return "", p.fail("a value is missing or not understood")
	}
	p.at += len(text)
	if r, _ := utf8.DecodeRuneInString(p.text[p.at:]); !p.done() && !isJSONSpace(r) && !strings.ContainsRune(",]}/", r) {
		return "", p.fail("a value is not understood")
	}
	return text, nil
}

// quoted reads a string in single or double quotes and returns what it stands for.
func (p *jsonParser) quoted() (string, error) {
	quote := p.peek()
	var out strings.Builder
	for p.at++; !p.done(); {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case r == rune(quote):
			p.at++
			return out.String(), nil
		case r == '\\':
			if err := p.escape(&out); err != nil {
				return "", err
			}
		case r == '\n' || r == '\r':
			return "", p.fail("a string is not closed on its line")
		default:
			out.WriteRune(r)
			p.at += size
		}
	}
	return "", p.fail("a string is not closed")
}

var jsonEscapes = map[rune]string{
	'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00",
	'\n': "", '\u2028': "", '\u2029': "", // an escaped line end continues the string
}

// escape reads what follows a backslash.
func (p *jsonParser) escape(out *strings.Builder) error {
	p.at++
	if p.done() {
		return p.fail("a string is not closed")
	}
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += size
	switch r {
	case 'u':
		return p.unicodeEscape(out)
	case 'x':
		code, err := p.hex(2)
		out.WriteRune(code)
		return err
	case '\r':
		p.at += len(p.text[p.at:]) - len(strings.TrimPrefix(p.text[p.at:], "\n"))
		return nil
	}
	if s, ok := jsonEscapes[r]; ok {
		out.WriteString(s)
		return nil
	}
	out.WriteRune(r)
	return nil
}

func (p *jsonParser) unicodeEscape(out *strings.Builder) error {
	code, err := p.hex(4)
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(code) && strings.HasPrefix(p.text[p.at:], `\u`) {
		mark := p.at
		p.at += 2
		low, err := p.hex(4)
		if err != nil {
			return err
		}
		if pair := utf16.DecodeRune(code, low); pair != utf8.RuneError {
			out.WriteRune(pair)
			return nil
		}
		p.at = mark // two halves that do not belong together: each stands for itself
	}
	out.WriteRune(code)
	return nil
}

func (p *jsonParser) hex(digits int) (rune, error) {
	if p.at+digits > len(p.text) {
		return 0, p.fail("an escape is cut short")
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
	if err != nil {
		return 0, p.fail("an escape is not understood")
	}
	p.at += digits
	return rune(n), nil
}
