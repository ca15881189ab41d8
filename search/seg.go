package search

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
)

// A seg is one immutable segment and what has been read of it. It is safe for
// concurrent use, and usable while a snapshot that holds the segment is.
type seg struct {
	source segment.Segment
	rows   rows

	mu    sync.Mutex
	lists map[string]*postings // by term without level, or by prefix
	notes map[string]*roaring.Bitmap
}

// maxLists bounds how many terms of a segment stay at hand.
const maxLists = 2048

func newSeg(source segment.Segment) (*seg, error) {
	// ice loads a dictionary when it is first asked for, under a lock that a
	// panic over damaged bytes would leave taken: better now than among
	// searches.
	for _, field := range []string{keyField, wordField, facetField} {
		if _, err := source.Dictionary(field); err != nil {
			return nil, err
		}
	}
	r, err := readRows(source)
	if err != nil {
		return nil, err
	}
	return &seg{source: source, rows: r, lists: map[string]*postings{}, notes: map[string]*roaring.Bitmap{}}, nil
}

// postings are the notes of a segment that hold a term, by level. A note has a
// term at one level only. The bitmaps are shared and must not be changed.
type postings struct {
	at    [levels]*roaring.Bitmap // nil for none
	count uint64                  // dead ones included
}

var noPostings = &postings{}

// all are the lists that are not empty, best first.
func (p *postings) all() []*roaring.Bitmap {
	out := make([]*roaring.Bitmap, 0, levels)
	for l := levels - 1; l >= 0; l-- {
		if p.at[l] != nil {
			out = append(out, p.at[l])
		}
	}
	return out
}

// postings returns the lists of a term; key is without level.
func (s *seg) postings(key string) (*postings, error) {
	return s.cached(key, func() (*postings, error) { return s.readPostings(key) })
}

// cached keeps what read returns. The lock is not held while it reads: two
// searches may then read the same, and no search waits.
func (s *seg) cached(key string, read func() (*postings, error)) (*postings, error) {
	s.mu.Lock()
	p := s.lists[key]
	s.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := read()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lists) >= maxLists {
		clear(s.lists)
	}
	s.lists[key] = p
	return p, nil
}

func (s *seg) readPostings(key string) (*postings, error) {
	dict, err := s.source.Dictionary(wordField)
	if err != nil {
		return nil, err
	}
	var p *postings
	term := append([]byte(key), 0)
	for l := range levels {
		term[len(key)] = 'a' + byte(l)
		docs, err := listOf(dict, term)
		if err != nil {
			return nil, err
		}
		if docs == nil {
			continue
		}
		if p == nil {
			p = &postings{}
		}
		p.at[l] = docs
		p.count += docs.GetCardinality()
	}
	if p == nil {
		return noPostings, nil
	}
	return p, nil
}

// listOf is the documents of one term, dead ones included, or nil.
func listOf(dict segment.Dictionary, term []byte) (*roaring.Bitmap, error) {
	list, err := dict.PostingsList(term, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	if list.Count() == 0 {
		return nil, nil
	}
	it, err := list.Iterator(false, false, false, nil)
	if err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	bare, ok := it.(segment.OptimizablePostingsIterator)
	if !ok {
		return nil, fmt.Errorf("read a list: %T shows no bitmap", it)
	}
	if doc, ok := bare.DocNum1Hit(); ok {
		return roaring.BitmapOf(uint32(doc)), nil
	}
	return bare.ActualBitmap(), nil
}

// facet is the documents with a facet, dead ones included.
func (s *seg) facet(term string) (*roaring.Bitmap, error) {
	s.mu.Lock()
	b := s.notes[term]
	s.mu.Unlock()
	if b != nil {
		return b, nil
	}
	dict, err := s.source.Dictionary(facetField)
	if err != nil {
		return nil, err
	}
	b, err = listOf(dict, []byte(term))
	if err != nil {
		return nil, err
	}
	if b == nil {
		b = roaring.New()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) >= maxLists {
		clear(s.notes)
	}
	s.notes[term] = b
	return b, nil
}

var errNoText = errors.New("a document without a stored text")

// text is the stored text of a document. The caller may keep it.
func (s *seg) text(doc uint32) ([]byte, error) {
	var text []byte
	err := s.source.VisitStoredFields(uint64(doc), func(name string, value []byte) bool {
		if name == textField {
			text = bytes.Clone(value)
		}
		return text == nil
	})
	if err == nil && text == nil {
		err = errNoText
	}
	return text, err
}
