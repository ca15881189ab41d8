package mcptools

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// maxLine is the longest message that is read.
	maxLine = 16 << 20
	// keptOfLong is how much is kept of a longer one, to find its id in.
	keptOfLong = 4 << 10
)

// A line is one message as it came in.
type line struct {
	text []byte // without the end of the line; the start only if long
	long bool   // the line was over the limit
}

// A lineReader splits its input into lines. It needs no more memory than the
// limit, whatever comes in.
type lineReader struct {
	in    *bufio.Reader
	limit int
}

func newLineReader(in io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: maxLine}
}

// next is the next line that is not blank. The last one needs no newline.
// The error is io.EOF at the end, or that of the input.
func (r *lineReader) next() (line, error) {
	for {
		l, err := r.read()
		if len(bytes.TrimSpace(l.text)) > 0 {
			return l, nil // the error, if there is one, comes again
		}
		if err != nil {
			return line{}, err
		}
	}
}

func (r *lineReader) read() (line, error) {
	var l line
	for {
		chunk, err := r.in.ReadSlice('\n')
		l.add(chunk, r.limit)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

func (l *line) add(chunk []byte, limit int) {
	switch {
	case l.long:
	case len(l.text)+len(chunk) <= limit:
		l.text = append(l.text, chunk...)
	default:
		l.long = true
		start := append(l.text, chunk...)
		l.text = bytes.Clone(start[:min(len(start), keptOfLong)])
	}
}
