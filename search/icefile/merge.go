package icefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
)

// Merge joins segments of this package into one, without the documents in
// drops, of which there is one or nil for each segment.
func Merge(segments []segment.Segment, drops []*roaring.Bitmap, _ int) segment.Merger {
	m := &merger{}
	for i, s := range segments {
		m.parts = append(m.parts, newMergePart(s.(*Segment), drops[i], m.docs))
		m.docs += m.parts[i].docs
	}
	return m
}

// A merger writes one segment of many.
type merger struct {
	parts  []*mergePart
	docs   uint32 // that stay
	fields []string
	out    output
	closed chan struct{}
}

// A mergePart is a segment that is being merged.
type mergePart struct {
	*Segment
	base    uint32   // the number of its first document
	docs    uint32   // that stay
	numbers []uint32 // new ones, by old; nil if they only move
	fields  []uint64 // new numbers of its fields
}

// dropped stands for the number of a document that does not stay.
const dropped = math.MaxUint32

func newMergePart(s *Segment, drop *roaring.Bitmap, base uint32) *mergePart {
	p := &mergePart{Segment: s, base: base, docs: uint32(s.Count())}
	if drop == nil || drop.IsEmpty() {
		return p
	}
	p.numbers = make([]uint32, p.docs)
	next := base
	for doc := range p.numbers {
		if drop.Contains(uint32(doc)) {
			p.numbers[doc] = dropped
			continue
		}
		p.numbers[doc] = next
		next++
	}
	p.docs = next - base
	return p
}

// number is the new number of a document, or dropped.
func (p *mergePart) number(doc uint32) uint32 {
	if p.numbers == nil {
		return p.base + doc
	}
	return p.numbers[doc]
}

// DocumentNumbers are the new numbers of the documents by segment and old
// number; math.MaxInt64 stands for one that does not stay.
func (m *merger) DocumentNumbers() [][]uint64 {
	var out [][]uint64
	for _, p := range m.parts {
		numbers := make([]uint64, p.Count())
		for doc := range numbers {
			numbers[doc] = math.MaxInt64
			if n := p.number(uint32(doc)); n != dropped {
				numbers[doc] = uint64(n)
			}
		}
		out = append(out, numbers)
	}
	return out
}

// WriteTo writes the file of the new segment, until closed is. It is ErrDamaged
// if the bytes of a segment are not what its checksum says: merged, they would
// have one that is right.
func (m *merger) WriteTo(w io.Writer, closed chan struct{}) (int64, error) {
	m.out, m.closed = output{w: w}, closed
	if err := m.write(); err != nil {
		return int64(m.out.passed), fmt.Errorf("merge segments: %w", err)
	}
	m.out.flush()
	return int64(m.out.passed), m.out.err
}

func (m *merger) write() error {
	if err := m.checkParts(); err != nil {
		return err
	}
	m.nameFields()
	stored, err := m.mergeStored()
	if err != nil {
		return err
	}
	storedIndex := writeStoredIndex(&m.out, stored)
	var fields []writtenField
	for _, name := range m.fields {
		at, err := m.mergeField(name)
		if err != nil {
			return err
		}
		fields = append(fields, writtenField{name, at})
	}
	rows, err := m.mergeRows()
	if err != nil {
		return err
	}
	writeEnd(&m.out, storedIndex, int(m.docs), fields, rows)
	return nil
}

func (m *merger) checkParts() error {
	for _, p := range m.parts {
		if err := p.check(); err != nil {
			return err
		}
		if err := m.proceed(); err != nil {
			return err
		}
	}
	return nil
}

// proceed is the reason to stop, if there is one.
func (m *merger) proceed() error {
	select {
	case <-m.closed:
		return segment.ErrClosed
	default:
		return m.out.err
	}
}

// nameFields numbers the fields of all segments.
func (m *merger) nameFields() {
	var names []string
	for _, p := range m.parts {
		names = append(names, p.Fields()...)
	}
	m.fields = inOrder(names)
	number := map[string]uint64{}
	for i, name := range m.fields {
		number[name] = uint64(i)
	}
	for _, p := range m.parts {
		p.fields = nil
		for _, name := range p.Fields() {
			p.fields = append(p.fields, number[name])
		}
	}
}

// mergeStored copies the stored values as they are packed, and returns where
// those of each document begin.
func (m *merger) mergeStored() ([]uint64, error) {
	stored := make([]uint64, 0, m.docs)
	for _, p := range m.parts {
		for doc := range uint32(p.Count()) {
			if p.number(doc) == dropped {
				continue
			}
			meta, packed, err := p.storedOf(doc)
			if err != nil {
				return nil, err
			}
			if meta, err = p.renumber(meta); err != nil {
				return nil, err
			}
			stored = append(stored, m.out.len())
			writeStored(&m.out, meta, packed)
		}
		if err := m.proceed(); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// storedOf is what writeStored wrote of a document.
func (s *Segment) storedOf(doc uint32) (meta, packed []byte, err error) {
	place, err := s.read(s.StoredIndexOffset()+8*uint64(doc), 8)
	if err != nil {
		return nil, nil, err
	}
	at := binary.BigEndian.Uint64(place)
	metaLen, n, err := s.uvarint(at)
	if err != nil {
		return nil, nil, err
	}
	packedLen, k, err := s.uvarint(at + n)
	if err != nil {
		return nil, nil, err
	}
	at += n + k
	if meta, err = s.read(at, metaLen); err != nil {
		return nil, nil, err
	}
	packed, err = s.read(at+metaLen, packedLen)
	return meta, packed, err
}

// renumber gives the stored values of a document the new numbers of their
// fields.
func (p *mergePart) renumber(meta []byte) ([]byte, error) {
	same := true
	for old, n := range p.fields {
		same = same && n == uint64(old)
	}
	if same {
		return meta, nil
	}
	var out []byte
	for len(meta) > 0 {
		v, rest, err := readPlace(meta)
		if err != nil {
			return nil, err
		}
		if v.field >= uint64(len(p.fields)) {
			return nil, errStored
		}
		out = binary.AppendUvarint(out, p.fields[v.field])
		out = binary.AppendUvarint(out, v.start)
		out = binary.AppendUvarint(out, v.size)
		meta = rest
	}
	return out, nil
}

// A mergeTerms goes over the terms of a field of one segment.
type mergeTerms struct {
	*mergePart
	at   *vellum.FSTIterator
	term []byte
	list uint64 // what leads to its list
}

// next goes on; false says that there is no other term.
func (t *mergeTerms) next(err error) (bool, error) {
	if errors.Is(err, vellum.ErrIteratorDone) {
		return false, nil
	}
	if err == nil {
		t.term, t.list = t.at.Current()
	}
	return true, err
}

// stopEvery is after how many terms a merge looks whether to stop.
const stopEvery = 1024

// mergeField writes the terms of a field that some document has which stays.
func (m *merger) mergeField(name string) (dictionary uint64, err error) {
	w, err := newFieldWriter(&m.out)
	if err != nil {
		return 0, err
	}
	open, err := m.termsOf(name)
	if err != nil {
		return 0, err
	}
	var docs []uint32
	var text []byte
	for n := 0; len(open) > 0; n++ {
		if n%stopEvery == 0 {
			if err := m.proceed(); err != nil {
				return 0, err
			}
		}
		text = append(text[:0], least(open)...)
		docs = docs[:0]
		still := open[:0]
		for _, t := range open {
			more := true
			if bytes.Equal(t.term, text) {
				if docs, err = t.appendDocs(docs); err != nil {
					return 0, err
				}
				if more, err = t.next(t.at.Next()); err != nil {
					return 0, err
				}
			}
			if more {
				still = append(still, t)
			}
		}
		open = still
		if err := w.add(text, docs); err != nil {
			return 0, err
		}
	}
	return w.end()
}

// termsOf stands at the first term of a field in each segment that has one.
func (m *merger) termsOf(name string) ([]*mergeTerms, error) {
	var open []*mergeTerms
	for _, p := range m.parts {
		fst := p.terms[name]
		if fst == nil {
			continue
		}
		at, err := fst.Iterator(nil, nil)
		t := &mergeTerms{mergePart: p, at: at}
		some, err := t.next(err)
		if err != nil {
			return nil, err
		}
		if some {
			open = append(open, t)
		}
	}
	return open, nil
}

func least(open []*mergeTerms) []byte {
	first := open[0].term
	for _, t := range open[1:] {
		if bytes.Compare(t.term, first) < 0 {
			first = t.term
		}
	}
	return first
}

// appendDocs appends the new numbers of the documents that hold the term.
func (t *mergeTerms) appendDocs(docs []uint32) ([]uint32, error) {
	list, err := t.Segment.list(t.list)
	if err != nil {
		return nil, err
	}
	if doc, only := list.One(); only {
		return t.append(docs, []uint32{doc})
	}
	bitmap, err := list.Bitmap()
	if err != nil {
		return nil, err
	}
	var buf [512]uint32
	it := bitmap.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		if docs, err = t.append(docs, buf[:n]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (t *mergeTerms) append(docs, old []uint32) ([]uint32, error) {
	for _, doc := range old {
		if uint64(doc) >= t.Count() {
			return nil, errOutside
		}
		if n := t.number(doc); n != dropped {
			docs = append(docs, n)
		}
	}
	return docs, nil
}

func (m *merger) mergeRows() (*rowWriter, error) {
	out := newRowWriter(int(m.docs))
	for _, p := range m.parts {
		for doc := range uint32(p.Count()) {
			if p.number(doc) == dropped {
				continue
			}
			if err := out.add(p.rows.row(doc)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
