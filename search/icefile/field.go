package icefile

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
)

// A field collects the terms of one field in all documents.
type field struct {
	name  string
	texts table
	terms []term // by number in texts
	hits  []hit
}

// A term is the chain of the hits of one term.
type term struct {
	number      uint32 // in texts
	first, last int32  // in hits
}

// A hit is a term in a document.
type hit struct {
	doc  uint32
	next int32 // of the same term, or -1
}

func newField(name string) *field { return &field{name: name, texts: newTable()} }

func (f *field) add(doc uint32, in segment.Field) {
	in.EachTerm(func(t segment.FieldTerm) { f.hit(t.Term(), doc) })
}

// hit adds a term in a document, however often it comes there.
func (f *field) hit(text []byte, doc uint32) {
	n, isNew := f.texts.number(text)
	at := int32(len(f.hits))
	if isNew {
		f.terms = append(f.terms, term{number: n, first: at})
	} else {
		last := &f.hits[f.terms[n].last]
		if last.doc == doc {
			return
		}
		last.next = at
	}
	f.hits = append(f.hits, hit{doc: doc, next: -1})
	f.terms[n].last = at
}

// write writes the lists of a field and its dictionary, and returns where that
// is.
func (f *field) write(out *output) (dictionary uint64, err error) {
	w, err := newFieldWriter(out)
	if err != nil {
		return 0, fmt.Errorf("field %s: %w", f.name, err)
	}
	slices.SortFunc(f.terms, func(s, t term) int { return bytes.Compare(f.texts.at(s.number), f.texts.at(t.number)) })
	var docs []uint32
	for _, t := range f.terms {
		docs = docs[:0]
		for k := t.first; k >= 0; k = f.hits[k].next {
			docs = append(docs, f.hits[k].doc)
		}
		if err := w.add(f.texts.at(t.number), docs); err != nil {
			return 0, fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	if dictionary, err = w.end(); err != nil {
		return 0, fmt.Errorf("field %s: %w", f.name, err)
	}
	return dictionary, nil
}

// A fieldWriter writes the lists of the terms of a field, which come in their
// order, and then the dictionary that leads to them.
type fieldWriter struct {
	out   *output
	terms *dictionary
	list  *roaring.Bitmap
	buf   bytes.Buffer
	gaps  []byte
}

// dictionaries are builders to be used again, for a new one is large.
var dictionaries = sync.Pool{New: func() any { return &dictionary{} }}

type dictionary struct {
	buf     bytes.Buffer
	builder *vellum.Builder
}

// sharing is how hard vellum looks for ends of terms that are alike. It would
// look in twenty times as many places, which makes a file 0.5 % smaller and takes
// three times as long.
var sharing = &vellum.BuilderOpts{Encoder: 1, RegistryTableSize: 1000, RegistryMRUSize: 1}

func (d *dictionary) start() error {
	d.buf.Reset()
	if d.builder != nil {
		return d.builder.Reset(&d.buf)
	}
	var err error
	d.builder, err = vellum.New(&d.buf, sharing)
	return err
}

func newFieldWriter(out *output) (*fieldWriter, error) {
	d := dictionaries.Get().(*dictionary)
	if err := d.start(); err != nil {
		return nil, err
	}
	return &fieldWriter{out: out, terms: d, list: roaring.New()}, nil
}

// A value in a dictionary is the only document of a term, or where its list is
// and, in the last bit, isList. A list is its length, with isPacked in the last
// bit if it is a bitmap of roaring's and no gaps, and these.
const (
	isList   = 1
	isPacked = 1
)

// add writes a term with its documents, which are in order.
func (w *fieldWriter) add(text []byte, docs []uint32) error {
	switch n := len(docs); {
	case n == 0:
		return nil
	case n == 1:
		return w.terms.builder.Insert(text, uint64(docs[0])<<1)
	case n <= maxGaps:
		w.gaps = packGaps(w.gaps[:0], docs)
		return w.addList(text, w.gaps, 0)
	}
	w.list.Clear()
	w.list.AddMany(docs)
	w.buf.Reset()
	if _, err := w.list.WriteTo(&w.buf); err != nil {
		return err
	}
	return w.addList(text, w.buf.Bytes(), isPacked)
}

func (w *fieldWriter) addList(text, list []byte, form uint64) error {
	at := w.out.len()
	w.out.uvarint(uint64(len(list))<<1 | form)
	w.out.bytes(list)
	return w.terms.builder.Insert(text, at<<1|isList)
}

// end writes the dictionary and returns where it is. The writer must not be used
// afterwards.
func (w *fieldWriter) end() (uint64, error) {
	if err := w.terms.builder.Close(); err != nil {
		return 0, err
	}
	at := w.out.len()
	w.out.uvarint(uint64(w.terms.buf.Len()))
	w.out.bytes(w.terms.buf.Bytes())
	dictionaries.Put(w.terms)
	return at, nil
}
