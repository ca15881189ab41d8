package segfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
)

// Type and Version name the format to Bluge.
const (
	Type           = "cairn"
	Version uint32 = 1
)

// A Segment is what New or Merge made. It is safe for concurrent use.
type Segment struct {
	file *segment.Data
	data *segment.Data // without the rows
	docs uint64

	fields []string
	terms  map[string]*termList // by field

	storedAt uint64   // where the places of the stored values are
	words    wordList // of the stored values
	rows     *Rows
}

// Load makes a segment of the bytes of a file. Damaged bytes may make any later
// use panic.
func Load(file *segment.Data) (s *Segment, err error) {
	end := file.Len() - trailerLen - checksumLen
	if end < 0 {
		return nil, errRows
	}
	trailer, err := file.Read(end, end+trailerLen)
	if err != nil {
		return nil, err
	}
	size, nameless, names := readTrailer(trailer)
	if size > uint64(end) {
		return nil, errRows
	}
	start := end - int(size)
	s = &Segment{file: file, data: file.Slice(0, start)}
	if err := s.loadFields(); err != nil {
		return nil, err
	}
	rows, err := file.Read(start, end)
	if err != nil {
		return nil, err
	}
	if s.rows, err = readRows(rows, s.docs, nameless, names); err != nil {
		return nil, err
	}
	return s, s.loadWords()
}

// loadFields reads what writeEnd wrote of the fields.
func (s *Segment) loadFields() error {
	at := uint64(s.data.Len()) - footerLen
	footer, err := s.read(at, footerLen) // refuses what is shorter
	if err != nil {
		return err
	}
	s.docs = binary.BigEndian.Uint64(footer)
	s.storedAt = binary.BigEndian.Uint64(footer[8:])
	start := binary.BigEndian.Uint64(footer[16:])
	if start > at {
		return errOutside
	}
	fields, err := s.read(start, at-start)
	if err != nil {
		return err
	}
	s.terms = map[string]*termList{}
	for len(fields) > 0 {
		if fields, err = s.loadField(fields); err != nil {
			return err
		}
	}
	return nil
}

// loadField reads the first of some fields.
func (s *Segment) loadField(fields []byte) (rest []byte, err error) {
	terms, n := binary.Uvarint(fields)
	if n <= 0 {
		return nil, errOutside
	}
	nameLen, m := binary.Uvarint(fields[n:])
	if m <= 0 || nameLen == 0 || nameLen > uint64(len(fields)-n-m) {
		return nil, errOutside
	}
	fields = fields[n+m:]
	name := string(fields[:nameLen])
	s.fields = append(s.fields, name)
	if s.terms[name], err = s.readTerms(terms); err != nil {
		return nil, fmt.Errorf("read the terms of %s: %w", name, err)
	}
	return fields[nameLen:], nil
}

// ErrDamaged means that the bytes of a segment are not those that were written.
var ErrDamaged = errors.New("a segment is damaged")

// check compares the segment with the checksum at its end.
func (s *Segment) check() error {
	end := s.file.Len() - checksumLen
	body, err := s.file.Read(0, end)
	if err != nil {
		return err
	}
	sum, err := s.file.Read(end, s.file.Len())
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	return nil
}

// Count is how many documents there are.
func (s *Segment) Count() uint64 { return s.docs }

// Fields are the names of the fields, in the order of their numbers.
func (s *Segment) Fields() []string { return s.fields }

// DocsMatchingTerms are the documents that hold one of the terms. Bluge also
// calls it in a goroutine of its own, where a panic would end the process, and
// looks up the new numbers of documents that it takes for removed: damaged bytes
// make neither panic.
func (s *Segment) DocsMatchingTerms(terms []segment.Term) (found *roaring.Bitmap, err error) {
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, fmt.Errorf("look up terms: %w: %v", ErrDamaged, r)
		}
	}()
	var docs []uint32
	for _, t := range terms {
		if docs, err = s.appendMatching(docs, t); err != nil {
			return nil, err
		}
	}
	return roaring.BitmapOf(docs...), nil
}

func (s *Segment) appendMatching(docs []uint32, t segment.Term) ([]uint32, error) {
	terms := s.terms[t.Field()]
	if terms == nil {
		return docs, nil
	}
	list, found, err := terms.get(t.Term())
	if err != nil || !found {
		return docs, err
	}
	start := len(docs)
	if docs, err = list.AppendTo(docs); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(docs[start:], func(doc uint32) bool { return uint64(doc) >= s.docs }) {
		return nil, errOutside
	}
	return docs, nil
}

// Size is how many bytes it takes.
func (s *Segment) Size() int { return s.file.Len() }

// Type is that of the format.
func (s *Segment) Type() string { return Type }

// Version is that of the format.
func (s *Segment) Version() uint32 { return Version }

// WriteTo writes the segment as a file.
func (s *Segment) WriteTo(w io.Writer, _ chan struct{}) (int64, error) { return s.file.WriteTo(w) }

// CollectionStats is not there: Bluge's own searches would ask for it.
func (s *Segment) CollectionStats(string) (segment.CollectionStats, error) {
	return nil, errors.ErrUnsupported
}

// DocumentValueReader is not there: the rows are.
func (s *Segment) DocumentValueReader([]string) (segment.DocumentValueReader, error) {
	return nil, errors.ErrUnsupported
}
