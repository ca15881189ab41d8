package segfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
)

// An Entry is a term and the documents that hold it.
type Entry struct {
	Term []byte // valid until the next entry
	Docs List
}

// A List is the documents that hold a term, at least one.
type List struct {
	one    uint32 // if there is but one
	gaps   []byte // see appendGaps
	packed []byte // a roaring bitmap; nil like gaps if there is but one document
	docs   uint64 // of the segment
}

// Bitmap makes the list ready to use. It may share memory with the segment: it
// must not be changed, and is valid as long as the segment is.
func (l List) Bitmap() (*roaring.Bitmap, error) {
	packed := l.packed
	switch {
	case l.gaps != nil:
		var buf [maxGaps]uint32
		docs, err := l.appendGaps(buf[:0])
		if err != nil {
			return nil, err
		}
		packed = packArrays(docs)
	case packed == nil:
		return roaring.BitmapOf(l.one), nil
	}
	docs := roaring.New()
	if _, err := docs.FromBuffer(packed); err != nil {
		return nil, fmt.Errorf("read a list: %w: %w", ErrDamaged, err)
	}
	if docs.IsEmpty() || uint64(docs.Maximum()) >= l.docs {
		return nil, errOutside
	}
	return docs, nil
}

// One is the only document, if there is only one.
func (l List) One() (doc uint32, only bool) { return l.one, l.gaps == nil && l.packed == nil }

// IsShort says that there are not many documents. A list that is not lies in the
// segment as a bitmap.
func (l List) IsShort() bool { return l.packed == nil }

// AppendTo appends the documents, in order.
func (l List) AppendTo(docs []uint32) ([]uint32, error) {
	switch {
	case l.gaps != nil:
		return l.appendGaps(docs)
	case l.packed == nil:
		return append(docs, l.one), nil
	}
	bitmap, err := l.Bitmap()
	if err != nil {
		return nil, err
	}
	var buf [512]uint32
	it := bitmap.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		docs = append(docs, buf[:n]...)
	}
	return docs, nil
}

// maxGaps is the length of the longest list that is written as gaps: they take
// half of the room of a bitmap, or less if the list is short, but have to be
// unpacked before it can be used.
const maxGaps = 2048

// packGaps appends documents, in order, as what lies between each and the one
// before it.
func packGaps(dst []byte, docs []uint32) []byte {
	next := uint32(0)
	for _, doc := range docs {
		dst = binary.AppendUvarint(dst, uint64(doc-next))
		next = doc + 1
	}
	return dst
}

// appendGaps appends the documents of what packGaps wrote.
func (l List) appendGaps(docs []uint32) ([]uint32, error) {
	if len(l.gaps) == 0 {
		return nil, errOutside
	}
	most, next := len(docs)+maxGaps, uint64(0)
	for gaps := l.gaps; len(gaps) > 0; {
		gap, n := binary.Uvarint(gaps)
		if n <= 0 || gap >= l.docs-next || len(docs) == most {
			return nil, errOutside
		}
		docs = append(docs, uint32(next+gap))
		next += gap + 1
		gaps = gaps[n:]
	}
	return docs, nil
}

// packArrays writes at most maxGaps documents, in order, as roaring reads them
// without copying: for each block of 65,536 its number and how many of it there
// are, less one; where each block begins; and the rest of each number.
func packArrays(docs []uint32) []byte {
	const noRuns, headLen, docLen = 12346, 4 + 4, 2
	blocks := 0
	for rest := docs; len(rest) > 0; rest = rest[block(rest):] {
		blocks++
	}
	heads, places, at := 8, 8+4*blocks, 8+headLen*blocks
	out := make([]byte, at+docLen*len(docs))
	binary.LittleEndian.PutUint32(out, noRuns)
	binary.LittleEndian.PutUint32(out[4:], uint32(blocks))
	for rest := docs; len(rest) > 0; {
		n := block(rest)
		binary.LittleEndian.PutUint16(out[heads:], uint16(rest[0]>>16))
		binary.LittleEndian.PutUint16(out[heads+2:], uint16(n-1))
		binary.LittleEndian.PutUint32(out[places:], uint32(at))
		for _, doc := range rest[:n] {
			binary.LittleEndian.PutUint16(out[at:], uint16(doc))
			at += docLen
		}
		heads, places, rest = heads+4, places+4, rest[n:]
	}
	return out
}

// block is how many documents there are before one of another block.
func block(docs []uint32) int {
	n, last := slices.BinarySearch(docs, docs[0]|0xffff)
	if last {
		n++
	}
	return n
}

// A Dictionary is the terms of a field. Of what Bluge wants of one it has but
// what Bluge asks for as long as nobody searches with it.
type Dictionary struct {
	segment *Segment
	terms   *termList // nil if there are none
}

// Dictionary is a *Dictionary: Bluge hides the type of a segment, but not that.
func (s *Segment) Dictionary(field string) (segment.Dictionary, error) {
	return &Dictionary{segment: s, terms: s.terms[field]}, nil
}

// Contains says whether some document holds a term.
func (d *Dictionary) Contains(term []byte) (bool, error) {
	if d.terms == nil {
		return false, nil
	}
	_, found, err := d.terms.get(term)
	return found, err
}

// Close does nothing.
func (d *Dictionary) Close() error { return nil }

// PostingsList is not there: Begin is.
func (d *Dictionary) PostingsList([]byte, *roaring.Bitmap, segment.PostingsList) (segment.PostingsList, error) {
	return nil, errors.ErrUnsupported
}

// Iterator is not there: Begin is.
func (d *Dictionary) Iterator(segment.Automaton, []byte, []byte) segment.DictionaryIterator {
	return noIterator{}
}

type noIterator struct{}

func (noIterator) Next() (segment.DictionaryEntry, error) { return nil, errors.ErrUnsupported }
func (noIterator) Close() error                           { return nil }

// Rows are those of the segment.
func (d *Dictionary) Rows() *Rows { return d.segment.rows }

// cursors are to be used again, for what they remember of terms.
var cursors = sync.Pool{New: func() any { return &cursor{} }}

// Begin are the terms that begin with start and that pick accepts, in order; a
// nil pick accepts all. It ends at the first error.
func (d *Dictionary) Begin(start []byte, pick Automaton) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if d.terms == nil {
			return
		}
		c := cursors.Get().(*cursor)
		defer cursors.Put(c)
		more, err := c.seek(d.terms, start)
		p := picker{Automaton: pick}
		for more && err == nil && bytes.HasPrefix(c.term, start) {
			if pick == nil {
				if !yield(Entry{c.term, c.docs}, nil) {
					return
				}
				more, err = c.next()
				continue
			}
			taken, refused := p.look(c)
			switch {
			case taken && !yield(Entry{c.term, c.docs}, nil):
				return
			case refused > 0:
				more, err = c.leave(refused)
			default:
				more, err = c.next()
			}
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("read a dictionary: %w", err))
		}
	}
}

var errOutside = fmt.Errorf("%w: it points outside of itself", ErrDamaged)

func (s *Segment) read(at, size uint64) ([]byte, error) {
	end := uint64(s.data.Len())
	if at > end || size > end-at {
		return nil, errOutside
	}
	return s.data.Read(int(at), int(at+size))
}

// uvarint is a number and how many bytes it takes.
func (s *Segment) uvarint(at uint64) (number, size uint64, err error) {
	left := uint64(s.data.Len()) - min(at, uint64(s.data.Len()))
	b, err := s.read(at, min(binary.MaxVarintLen64, left))
	if err != nil {
		return 0, 0, err
	}
	number, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, 0, errOutside
	}
	return number, uint64(n), nil
}
