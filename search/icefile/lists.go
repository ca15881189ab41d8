package icefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
)

// An Entry is a term and the documents that hold it.
type Entry struct {
	Term []byte // valid until the next entry
	Docs List
}

// A List is the documents that hold a term, at least one.
type List struct {
	one    uint32
	packed []byte // a roaring bitmap; nil if there is but one document
}

// Bitmap makes the list ready to use. It may share memory with the segment: it
// must not be changed, and is valid as long as the segment is.
func (l List) Bitmap() (*roaring.Bitmap, error) {
	if l.packed == nil {
		return roaring.BitmapOf(l.one), nil
	}
	docs := roaring.New()
	if _, err := docs.FromBuffer(l.packed); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return docs, nil
}

// One is the only document, if there is only one.
func (l List) One() (doc uint32, only bool) { return l.one, l.packed == nil }

// A Dictionary is the terms of a field.
type Dictionary struct {
	segment.Dictionary
	segment *Segment
	terms   *vellum.FST // nil if there are none
}

// Dictionary is a *Dictionary: Bluge hides the type of a segment, but not that.
func (s *Segment) Dictionary(field string) (segment.Dictionary, error) {
	d, err := s.Segment.Dictionary(field)
	if err != nil {
		return nil, err
	}
	return &Dictionary{d, s, s.terms[field]}, nil
}

// Rows are those of the segment.
func (d *Dictionary) Rows() *Rows { return d.segment.rows }

// Begin are the terms that begin with start and that pick accepts, in order; a
// nil pick accepts all. It ends at the first error.
//
// ice gives a row of terms and the list of a term, but reads the list twice and
// looks for the term anew for that.
func (d *Dictionary) Begin(start []byte, pick vellum.Automaton) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if d.terms == nil {
			return
		}
		it, err := d.terms.Search(pick, start, after(start))
		for ; err == nil; err = it.Next() {
			term, value := it.Current()
			docs, err := d.segment.list(value)
			if !yield(Entry{term, docs}, err) || err != nil {
				return
			}
		}
		if !errors.Is(err, vellum.ErrIteratorDone) {
			yield(Entry{}, fmt.Errorf("read a dictionary: %w", err))
		}
	}
}

// after is the least key above all that begin with start, or nil if there is
// none.
func after(start []byte) []byte {
	for i := len(start) - 1; i >= 0; i-- {
		if start[i] < 0xff {
			end := append([]byte(nil), start[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// list is what writeList wrote: how often and where the documents hold the
// term, which nobody asks here, and the documents.
func (s *Segment) list(value uint64) (List, error) {
	if value&isSingle != 0 {
		return List{one: uint32(value & docMask)}, nil
	}
	at := value
	for range 2 {
		_, n, err := s.uvarint(at)
		if err != nil {
			return List{}, err
		}
		at += n
	}
	size, n, err := s.uvarint(at)
	if err != nil {
		return List{}, err
	}
	packed, err := s.read(at+n, size)
	return List{packed: packed}, err
}

// docMask is the bits of a document number in a value with a single hit.
const docMask = 1<<31 - 1

var errOutside = errors.New("a segment points outside of itself")

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

// footerLen is the length of what writeFooter writes.
const footerLen = 4*8 + 3*4

// loadTerms goes over what writeFieldIndex wrote.
func (s *Segment) loadTerms() error {
	s.terms = map[string]*vellum.FST{}
	for at := s.FieldsIndexOffset(); at+8 <= uint64(s.data.Len())-footerLen; at += 8 {
		place, err := s.read(at, 8)
		if err != nil {
			return err
		}
		if err := s.loadTermsAt(binary.BigEndian.Uint64(place)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Segment) loadTermsAt(place uint64) error {
	dictionary, n, err := s.uvarint(place)
	if err != nil {
		return err
	}
	nameLen, m, err := s.uvarint(place + n)
	if err != nil {
		return err
	}
	name, err := s.read(place+n+m, nameLen)
	if err != nil {
		return err
	}
	if dictionary == 0 {
		return nil // a field without terms
	}
	size, n, err := s.uvarint(dictionary)
	if err != nil {
		return err
	}
	fst, err := s.read(dictionary+n, size)
	if err != nil {
		return err
	}
	s.terms[string(name)], err = vellum.Load(fst)
	if err != nil {
		return fmt.Errorf("read the dictionary of %s: %w", name, err)
	}
	return nil
}
