package segfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"cairn/internal/event"
)

// A Row is what a segment says of a document to whoever knows its number.
type Row struct {
	ID    string // at most MaxID bytes, none of them zero; empty for a document without one
	Space string // a segment knows at most 65,536 of them
	Time  int64
}

// MaxID is the length of the longest id in bytes.
const MaxID = event.IDLen

// Rows are the rows of a segment. They are read where they lie, in the file:
// loading them takes no memory, and hardly time. They are valid as long as the
// segment is, and safe for concurrent use.
//
// In the file they follow all else, column by column, with nothing in
// between, all numbers with the first byte first:
//
//	starts    8 bytes of each document: the start of its id, filled with zeros
//	ends      18 bytes of each: the rest of its id, filled with zeros
//	times     8 bytes of each
//	spaces    2 bytes of each: a number of a space
//	nameless  4 bytes of each document without an id: its number, ascending
//	names     of the spaces from 0: a uvarint that is the length, the name
//	trailer   the length of all these in 8 bytes, how many documents have no id
//	          and how many spaces there are in 4 bytes each
type Rows struct {
	starts, ends, times, spaces []byte

	nameless []uint32
	names    []string

	runs func() []run
}

// The width of the columns.
const (
	startLen = 8
	endLen   = MaxID - startLen
	timeLen  = 8
	spaceLen = 2
	rowLen   = startLen + endLen + timeLen + spaceLen

	numberLen  = 4
	trailerLen = 8 + 2*numberLen
)

// Len is how many documents there are.
func (r *Rows) Len() int { return len(r.times) / timeLen }

// Start is the start of the id of a document as a number: of two ids that do
// not begin alike, the greater one has the greater start. 0 is that of a
// document without one.
func (r *Rows) Start(doc uint32) uint64 {
	return binary.BigEndian.Uint64(r.starts[int(doc)*startLen:])
}

func (r *Rows) end(doc uint32) []byte {
	return r.ends[int(doc)*endLen:][:endLen]
}

// CompareIDs compares the ids of two documents, be it of two segments. It reads
// them only if it cannot tell by the runs that they are in.
func (r *Rows) CompareIDs(doc uint32, other *Rows, otherDoc uint32) int {
	mine, its := r.runOf(doc), other.runOf(otherDoc)
	switch {
	case mine == nil || its == nil:
	case mine == its:
		return cmp.Compare(doc, otherDoc)
	case mine.last < its.first:
		return -1
	case mine.first > its.last:
		return 1
	}
	return r.readIDs(doc, other, otherDoc)
}

func (r *Rows) readIDs(doc uint32, other *Rows, otherDoc uint32) int {
	if c := cmp.Compare(r.Start(doc), other.Start(otherDoc)); c != 0 {
		return c
	}
	return bytes.Compare(r.end(doc), other.end(otherDoc))
}

// RunStart is a document from which on ids ascend at least up to that of doc,
// which has one.
func (r *Rows) RunStart(doc uint32) uint32 {
	if run := r.runOf(doc); run != nil {
		return run.from
	}
	return doc
}

// A run is documents in a row whose ids, but for those without one, ascend. It
// ends where the next one begins.
type run struct {
	from        uint32
	first, last uint64 // starts of its ids
}

// maxRuns is how many runs of a segment are told apart. One that was built of
// notes in the order of their ids, and merged a few times, has fewer.
const maxRuns = 32

// runOf is the run that a document with an id is in, or nil if there are too
// many.
func (r *Rows) runOf(doc uint32) *run {
	runs := r.runs()
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].from <= doc {
			return &runs[i]
		}
	}
	return nil
}

// findRuns goes over all documents, once, unless there are too many runs.
func (r *Rows) findRuns() (out []run) {
	last, lastDoc := uint64(0), uint32(0)
	for doc := range uint32(r.Len()) {
		start := r.Start(doc)
		switch {
		case start == 0:
			continue
		case start > last && last > 0, start == last && r.readIDs(lastDoc, r, doc) < 0:
		case len(out) == maxRuns:
			return nil
		default:
			if len(out) > 0 {
				out[len(out)-1].last = last
			}
			out = append(out, run{from: doc, first: start})
		}
		last, lastDoc = start, doc
	}
	if len(out) > 0 {
		out[len(out)-1].last = last
	}
	return out
}

// ID is the id of a document, or empty.
func (r *Rows) ID(doc uint32) string {
	var id [MaxID]byte
	binary.BigEndian.PutUint64(id[:], r.Start(doc))
	copy(id[startLen:], r.end(doc))
	return string(bytes.TrimRight(id[:], "\x00"))
}

// Time is the time of a document.
func (r *Rows) Time(doc uint32) int64 {
	return int64(binary.BigEndian.Uint64(r.times[int(doc)*timeLen:]))
}

// Space is the space of a document.
func (r *Rows) Space(doc uint32) string {
	return r.names[binary.BigEndian.Uint16(r.spaces[int(doc)*spaceLen:])]
}

// Nameless are the documents without an id, in order. They must not be changed.
func (r *Rows) Nameless() []uint32 { return r.nameless }

func (r *Rows) row(doc uint32) Row {
	return Row{ID: r.ID(doc), Space: r.Space(doc), Time: r.Time(doc)}
}

var errRows = fmt.Errorf("%w in its rows", ErrDamaged)

// readTrailer is how many bytes of a file are rows, how many documents in them
// have no id, and how many spaces there are.
func readTrailer(b []byte) (size uint64, nameless, names uint32) {
	size = binary.BigEndian.Uint64(b)
	return size, binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[8+numberLen:])
}

// readRows reads the rows of docs documents. Whatever the bytes are, those that
// it returns can be used.
func readRows(b []byte, docs uint64, nameless, names uint32) (*Rows, error) {
	if docs > uint64(len(b))/rowLen || uint64(nameless) > docs {
		return nil, errRows
	}
	r := &Rows{}
	r.runs = sync.OnceValue(r.findRuns)
	take := func(width int) (column []byte) {
		n := int(docs) * width
		column, b = b[:n:n], b[n:]
		return column
	}
	r.starts, r.ends, r.times, r.spaces = take(startLen), take(endLen), take(timeLen), take(spaceLen)
	var err error
	if b, err = r.readNameless(b, int(nameless)); err != nil {
		return nil, err
	}
	if err := r.readNames(b, names); err != nil {
		return nil, err
	}
	return r, r.checkSpaces()
}

func (r *Rows) readNameless(b []byte, n int) (rest []byte, err error) {
	if n > len(b)/numberLen {
		return nil, errRows
	}
	for range n {
		doc := binary.BigEndian.Uint32(b)
		if last := len(r.nameless) - 1; int64(doc) >= int64(r.Len()) || last >= 0 && doc <= r.nameless[last] {
			return nil, errRows
		}
		r.nameless = append(r.nameless, doc)
		b = b[numberLen:]
	}
	return b, nil
}

func (r *Rows) readNames(b []byte, n uint32) error {
	for range n {
		size, width := binary.Uvarint(b)
		if width <= 0 || size > uint64(len(b)-width) {
			return errRows
		}
		b = b[width:]
		r.names = append(r.names, string(b[:size]))
		b = b[size:]
	}
	if len(b) > 0 {
		return errRows
	}
	return nil
}

func (r *Rows) checkSpaces() error {
	most := uint16(0)
	for b := r.spaces; len(b) >= spaceLen; b = b[spaceLen:] {
		most = max(most, binary.BigEndian.Uint16(b))
	}
	if r.Len() > 0 && int(most) >= len(r.names) {
		return errRows
	}
	return nil
}

// A rowWriter collects rows and writes them column by column.
type rowWriter struct {
	starts, ends, times, spaces []byte

	nameless, names []byte

	docs, empty uint32
	number      map[string]uint16 // of spaces
}

func newRowWriter(docs int) *rowWriter {
	return &rowWriter{
		starts: make([]byte, 0, docs*startLen),
		ends:   make([]byte, 0, docs*endLen),
		times:  make([]byte, 0, docs*timeLen),
		spaces: make([]byte, 0, docs*spaceLen),
		number: map[string]uint16{},
	}
}

var errSpaces = errors.New("more spaces than a segment can know")

func (w *rowWriter) add(r Row) error {
	if len(r.ID) > MaxID || strings.Contains(r.ID, "\x00") {
		return fmt.Errorf("%q is no id", r.ID)
	}
	n, ok := w.number[r.Space]
	if !ok {
		if len(w.number) > math.MaxUint16 {
			return errSpaces
		}
		n = uint16(len(w.number))
		w.number[r.Space] = n
		w.names = append(binary.AppendUvarint(w.names, uint64(len(r.Space))), r.Space...)
	}
	var id [MaxID]byte
	copy(id[:], r.ID)
	w.starts = append(w.starts, id[:startLen]...)
	w.ends = append(w.ends, id[startLen:]...)
	w.times = binary.BigEndian.AppendUint64(w.times, uint64(r.Time))
	w.spaces = binary.BigEndian.AppendUint16(w.spaces, n)
	if r.ID == "" {
		w.nameless = binary.BigEndian.AppendUint32(w.nameless, w.docs)
		w.empty++
	}
	w.docs++
	return nil
}

// writeTo writes the rows and their trailer.
func (w *rowWriter) writeTo(out *output) {
	start := out.len()
	for _, column := range [][]byte{w.starts, w.ends, w.times, w.spaces, w.nameless, w.names} {
		out.bytes(column)
	}
	out.uint64(out.len() - start)
	out.uint32(w.empty)
	out.uint32(uint32(len(w.number)))
}
