package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/internal/event"
)

// rows are the columns of a segment by document number.
type rows struct {
	ids    string   // all ids in a row
	ends   []uint32 // where each ends; a mark has none
	space  []uint16 // whose it is, in names
	names  []string // of spaces
	times  []int64  // recorded, in milliseconds; 0 for a mark
	marks  []uint32 // which documents are marks
	marked []string // of which spaces

	ages []uint64 // the first characters of each id, as a number
}

func (r *rows) id(doc uint32) event.ID {
	start := uint32(0)
	if doc > 0 {
		start = r.ends[doc-1]
	}
	return event.ID(r.ids[start:r.ends[doc]])
}

func (r *rows) spaceOf(doc uint32) string { return r.names[r.space[doc]] }

func readRows(source segment.Segment) (rows, error) {
	columns, err := source.DocumentValueReader([]string{keyField})
	if err != nil {
		return rows{}, fmt.Errorf("read the columns: %w", err)
	}
	n := source.Count()
	in := newRowReader(int(n))
	for doc := range n {
		in.key, in.ms = in.key[:0], 0
		if err := columns.VisitDocumentValues(doc, in.visit); err != nil {
			return rows{}, fmt.Errorf("read the columns: %w", err)
		}
		if err := in.add(uint32(doc)); err != nil {
			return rows{}, fmt.Errorf("read the columns: %w", err)
		}
	}
	in.rows.ids = in.ids.String()
	return in.rows, nil
}

// ageOf orders ids as they are ordered but for the last characters. It makes
// comparing two cheap: ids lie far apart in memory.
func ageOf(id []byte) uint64 {
	var b [8]byte
	copy(b[:], id)
	return binary.BigEndian.Uint64(b[:])
}

// A rowReader collects the columns of one document after the other.
type rowReader struct {
	rows   rows
	ids    strings.Builder
	number map[string]uint16 // of names
	key    []byte
	ms     int64
	err    error
}

func newRowReader(n int) *rowReader {
	in := &rowReader{number: map[string]uint16{}}
	in.ids.Grow(n * event.IDLen)
	in.rows.ends = make([]uint32, 0, n)
	in.rows.ages = make([]uint64, 0, n)
	in.rows.space = make([]uint16, 0, n)
	in.rows.times = make([]int64, 0, n)
	return in
}

func (in *rowReader) visit(_ string, value []byte) {
	if !bytes.HasPrefix(value, []byte(timePrefix)) {
		in.key = append(in.key, value...)
		return
	}
	if in.ms, in.err = parseMillis(value); in.err != nil {
		in.key = nil
	}
}

var (
	errNoKey      = errors.New("a document without a key")
	errManySpaces = errors.New("more spaces than there can be")
)

func (in *rowReader) add(doc uint32) error {
	space, id, ok := bytes.Cut(in.key, []byte(keySep))
	if in.err != nil || !ok {
		return errors.Join(in.err, errNoKey)
	}
	if len(space) == 0 {
		in.rows.marks = append(in.rows.marks, doc)
		in.rows.marked = append(in.rows.marked, string(id))
		id = nil
	}
	in.ids.Write(id)
	in.rows.ages = append(in.rows.ages, ageOf(id))
	n, ok := in.number[string(space)]
	if !ok {
		if len(in.rows.names) > math.MaxUint16 {
			return errManySpaces
		}
		n = uint16(len(in.rows.names))
		in.number[string(space)] = n
		in.rows.names = append(in.rows.names, string(space))
	}
	in.rows.ends = append(in.rows.ends, uint32(in.ids.Len()))
	in.rows.space = append(in.rows.space, n)
	in.rows.times = append(in.rows.times, in.ms)
	return nil
}
