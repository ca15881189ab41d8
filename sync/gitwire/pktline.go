package gitwire

import (
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// lines reads pkt-lines from a stream and never a byte behind the line it returns. No line is longer than 65,520 bytes.
type lines struct {
	s *pktline.Scanner
	r *ending
}

func newLines(r io.Reader) *lines {
	e := &ending{r: r}
	return &lines{pktline.NewScanner(e), e}
}

// ending remembers that a stream has ended: the Scanner does not tell a length that is cut off from one that is wrong.
type ending struct {
	r   io.Reader
	eof bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.eof = e.eof || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
	return n, err
}

// next returns the payload of the next line, valid until the next call; it is empty for a flush-pkt. The error is io.EOF
// if the stream ended between two lines, io.ErrUnexpectedEOF within one, a *RemoteError if the line reports an error.
func (l *lines) next() ([]byte, error) {
	if l.s.Scan() {
		return l.s.Bytes(), nil
	}
	err := l.s.Err()
	switch {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, pktline.ErrInvalidPktLen) && l.r.eof:
		return nil, io.ErrUnexpectedEOF
	case errors.Is(err, pktline.ErrInvalidPktLen):
		return nil, &ProtocolError{"a line has no proper length"}
	}
	if e, ok := errors.AsType[*pktline.ErrorLine](err); ok {
		return nil, &RemoteError{oneLine(e.Text)}
	}
	return nil, err
}

// text is next for lines of text, without the newline. Where a session must not end an end is io.ErrUnexpectedEOF.
func (l *lines) text() (line string, flush bool, err error) {
	line, flush, err = l.textOrEnd()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return line, flush, err
}

// textOrEnd is text where a session may end, which is io.EOF.
func (l *lines) textOrEnd() (line string, flush bool, err error) {
	b, err := l.next()
	return strings.TrimSuffix(string(b), "\n"), err == nil && len(b) == 0, err
}

// cutHash cuts an object id in hexadecimal off text. What follows is empty or begins with a space, which is cut too.
func cutHash(text string) (h plumbing.Hash, rest string, ok bool) {
	size := hex.EncodedLen(len(h))
	if len(text) < size || len(text) > size && text[size] != ' ' {
		return h, text, false
	}
	if _, err := hex.Decode(h[:], []byte(text[:size])); err != nil {
		return h, text, false
	}
	return h, strings.TrimPrefix(text[size:], " "), true
}

// Hangup ends a session in which nothing is asked for, after the advert was read.
func Hangup(w io.Writer) error { return pktline.NewEncoder(w).Flush() }
