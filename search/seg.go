package search

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/internal/event"
	"cairn/search/segfile"
)

// A seg is one immutable segment and what has been read of it. It is safe for
// concurrent use, and usable while a snapshot that holds the segment is.
type seg struct {
	source segment.Segment
	rows   rows
	words  *segfile.Dictionary
	narrow *segfile.Dictionary // the facets

	terms  shelf[*postings]       // by term without level
	unions shelf[*postings]       // of the terms of a prefix or a misspelled word
	facets shelf[*roaring.Bitmap] // by facet
}

// How much of a segment stays at hand, on shelves that may hold twice as much.
// Long lists of a term lie in the file. Short ones are in memory, four bytes a
// note, and so are a union, and all levels of a term together if a search needed
// that: of 100,000 notes hardly more than 50 KB.
const (
	maxTerms  = 512
	maxUnions = 64
	maxFacets = 512
)

// A shelf keeps at least the size things that were asked for last, and at most
// twice as many.
type shelf[T any] struct {
	size         int
	mu           sync.Mutex
	kept, former map[string]T
}

// get returns what read returned before, or reads. No lock is held meanwhile:
// two searches may read the same, and none waits for another.
func (s *shelf[T]) get(key string, read func() (T, error)) (T, error) {
	if kept, ok := s.find(key); ok {
		return kept, nil
	}
	fresh, err := read()
	if err != nil {
		return fresh, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(key, fresh)
	return fresh, nil
}

func (s *shelf[T]) find(key string) (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.kept[key]
	if !ok {
		if kept, ok = s.former[key]; ok {
			s.keep(key, kept)
		}
	}
	return kept, ok
}

func (s *shelf[T]) keep(key string, value T) {
	if s.kept == nil || len(s.kept) >= s.size {
		s.kept, s.former = map[string]T{}, s.kept
	}
	s.kept[key] = value
}

func newSeg(source segment.Segment) (*seg, error) {
	s := &seg{source: source}
	s.terms.size, s.unions.size, s.facets.size = maxTerms, maxUnions, maxFacets
	return s, s.load()
}

// load finds what searches read.
func (s *seg) load() (err error) {
	if s.words, err = dictionaryOf(s.source, wordField); err != nil {
		return err
	}
	s.rows = rows{s.words.Rows()}
	s.narrow, err = dictionaryOf(s.source, facetField)
	return err
}

func dictionaryOf(source segment.Segment, field string) (*segfile.Dictionary, error) {
	dict, err := source.Dictionary(field)
	if err != nil {
		return nil, err
	}
	own, ok := dict.(*segfile.Dictionary)
	if !ok {
		return nil, fmt.Errorf("read a dictionary: %T shows no lists", dict)
	}
	return own, nil
}

// postings returns the lists of a term; key is without level.
func (s *seg) postings(key string) (*postings, error) {
	return s.terms.get(key, func() (*postings, error) { return s.readPostings(key) })
}

func (s *seg) readPostings(key string) (*postings, error) {
	w := walks.Get().(*walk) // it goes back only if all went well
	w.docs = w.docs[:0]
	p := &postings{docs: s.rows.Len()}
	for e, err := range s.words.Begin([]byte(key), nil) {
		if err != nil {
			return nil, err
		}
		l := levelList{level: termLevel(e.Term)}
		if l.level >= levels {
			return nil, errLevel
		}
		if e.Docs.IsShort() {
			from := len(w.docs)
			if w.docs, err = e.Docs.AppendTo(w.docs); err != nil {
				return nil, err
			}
			l.few = w.docs[from:]
		} else if l.many, err = e.Docs.Bitmap(); err != nil {
			return nil, err
		}
		p.count += uint64(l.len())
		p.lists = append(p.lists, l)
	}
	own := slices.Clone(w.docs)
	for i := range p.lists {
		if l := &p.lists[i]; l.many == nil {
			l.few, own = own[:len(l.few):len(l.few)], own[len(l.few):]
		}
	}
	walks.Put(w)
	if len(p.lists) == 0 {
		return noPostings, nil
	}
	slices.Reverse(p.lists)
	return p, nil
}

var errLevel = errors.New("a term without a level")

// facet is the documents with a facet, dead ones included. A device is also
// meant by the start of its id. The bitmap is shared and must not be changed.
func (s *seg) facet(term string) (*roaring.Bitmap, error) {
	return s.facets.get(term, func() (*roaring.Bitmap, error) {
		if term[0] == deviceFacet && len(term) > minDevice {
			return s.facetsFrom(term)
		}
		for e, err := range s.narrow.Begin([]byte(term), nil) {
			if err != nil {
				return nil, err
			}
			if string(e.Term) == term { // the first, or there is none
				return e.Docs.Bitmap()
			}
			break
		}
		return roaring.New(), nil
	})
}

// minDevice is how many characters of the start of its id name a device.
const minDevice = event.MinDeviceStart

// facetsFrom is the documents with any facet that begins with start.
func (s *seg) facetsFrom(start string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for e, err := range s.narrow.Begin([]byte(start), nil) {
		if err != nil {
			return nil, err
		}
		docs, err := e.Docs.Bitmap()
		if err != nil {
			return nil, err
		}
		out.Or(docs)
	}
	return out, nil
}

var errNoText = errors.New("a document without a stored text")

// text calls fn with the stored text of a document, which is gone afterwards.
func (s *seg) text(doc uint32, fn func([]byte)) error {
	found := false
	err := s.words.Stored(doc, func(values []segfile.Value) {
		for _, v := range values {
			if v.Field == textField {
				found = true
				fn(v.Bytes)
			}
		}
	})
	if err == nil && !found {
		err = errNoText
	}
	return err
}

// coded is the stored text of a document, word by word.
func (s *seg) coded(doc uint32) (segfile.Coded, error) {
	text, found, err := s.words.Coded(doc, textField)
	if err == nil && !found {
		err = errNoText
	}
	return text, err
}

// appendPlace appends the place of a document; nothing if it has none.
func (s *seg) appendPlace(dst []byte, doc uint32) ([]byte, error) {
	place, found, err := s.words.Coded(doc, placeField)
	if err != nil || !found {
		return dst, err
	}
	return place.Append(dst)
}
