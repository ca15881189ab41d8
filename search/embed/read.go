package embed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// The limits of a file.
const (
	maxWords = 40_000   // read from the beginning; what follows is not looked at
	maxDims  = 512      // numbers of a word
	maxLine  = 16 << 10 // bytes; 512 numbers of 17 characters take half of it
	minDims  = 2
)

// A row is a line of a file.
type row struct {
	word    string
	numbers []float32 // valid until the next line
}

// A reader reads the rows of a file one after the other.
type reader struct {
	lines   *bufio.Scanner
	line    int
	dims    int // 0 until the first row
	pending []byte
	numbers []float32
}

// newReader reads the header, if there is one: how many words and numbers.
func newReader(in io.Reader) (*reader, error) {
	in, err := unpacked(in)
	if err != nil {
		return nil, err
	}
	r := &reader{lines: bufio.NewScanner(in)}
	r.lines.Buffer(make([]byte, 4<<10), maxLine)
	first, ok, err := r.scan()
	if err != nil || !ok {
		return r, err
	}
	count, dims, ok := header(first)
	if !ok {
		r.pending = bytes.Clone(first)
		return r, nil
	}
	if count < 1 || dims < minDims || dims > maxDims {
		return nil, r.fault("a word has between %d and %d numbers, and there is one at least; the file says %d words of %d", minDims, maxDims, count, dims)
	}
	r.dims = dims
	return r, nil
}

// unpacked is what a file holds, gzipped or not.
func unpacked(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	magic, err := b.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil // a file that cannot be read says so when it is
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, &FileError{Reason: "cannot be unpacked", Err: err}
	}
	return z, nil
}

func header(line []byte) (count, dims int, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) != 2 {
		return 0, 0, false
	}
	count, err := strconv.Atoi(string(fields[0]))
	dims, err2 := strconv.Atoi(string(fields[1]))
	return count, dims, err == nil && err2 == nil
}

func (r *reader) fault(format string, args ...any) error {
	return &FileError{Line: r.line, Reason: fmt.Sprintf(format, args...)}
}

// scan is the next line, without the blanks at its end. The bytes are valid
// until the next one.
func (r *reader) scan() (line []byte, ok bool, err error) {
	if r.pending != nil {
		line, r.pending = r.pending, nil
		return line, true, nil
	}
	r.line++
	if r.lines.Scan() {
		return bytes.TrimRight(r.lines.Bytes(), " \t\r"), true, nil
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, false, r.fault("is longer than %d bytes", maxLine)
	case err != nil:
		return nil, false, &FileError{Line: r.line, Reason: "cannot be read", Err: err}
	}
	return nil, false, nil
}

// next is the next row; false at the end of the file.
func (r *reader) next() (out row, ok bool, err error) {
	line, ok, err := r.scan()
	if err != nil || !ok {
		return row{}, false, err
	}
	fields := bytes.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
	if r.dims == 0 {
		r.dims = len(fields) - 1
		if r.dims < minDims || r.dims > maxDims {
			return row{}, false, r.fault("holds no word with %d to %d numbers after it", minDims, maxDims)
		}
	}
	at := len(fields) - r.dims
	if at < 1 {
		return row{}, false, r.fault("has %d numbers and should have %d", max(0, len(fields)-1), r.dims)
	}
	// Some files hold words with blanks in them; a number too many is none.
	if at > 1 && isNumber(fields[1]) {
		return row{}, false, r.fault("has more than %d numbers", r.dims)
	}
	out.word = string(bytes.Join(fields[:at], []byte(" ")))
	out.numbers, err = r.parse(fields[at:])
	return out, err == nil, err
}

func isNumber(field []byte) bool {
	_, err := strconv.ParseFloat(string(field), 32)
	return err == nil
}

func (r *reader) parse(fields [][]byte) ([]float32, error) {
	r.numbers = r.numbers[:0]
	for i, f := range fields {
		x, err := strconv.ParseFloat(string(f), 32)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, r.fault("number %d is none", i+1)
		}
		r.numbers = append(r.numbers, float32(x))
	}
	return r.numbers, nil
}
