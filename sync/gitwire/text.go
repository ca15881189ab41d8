package gitwire

import (
	"strings"
	"unicode"
)

// maxText is how long a message, a reason or a name from the other side may be.
const maxText = 1024

// oneLine makes text safe to print: valid UTF-8, one line, nothing that moves a cursor, at most maxText bytes.
func oneLine(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.TrimSpace(text)
}

// splitter cuts a stream of text into lines and hands each on, made safe. Progress that overwrites itself with carriage
// returns comes as lines too.
type splitter struct {
	line    func(string)
	pending []byte
}

func (s *splitter) write(p []byte) {
	for _, c := range p {
		if c == '\n' || c == '\r' {
			s.end()
		} else if len(s.pending) < 2*maxText {
			s.pending = append(s.pending, c)
		}
	}
}

// end hands on what stands before the end of the line, if anything.
func (s *splitter) end() {
	if text := oneLine(string(s.pending)); text != "" && s.line != nil {
		s.line(text)
	}
	s.pending = s.pending[:0]
}
