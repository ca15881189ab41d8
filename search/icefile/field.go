package icefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
)

// A field collects the terms of one field in all documents.
type field struct {
	name   string
	docs   uint64 // that have it
	length uint64 // of all of them

	number map[string]int32 // of terms
	terms  []term
	hits   []hit

	dictionary uint64 // where it was written
}

// A term is one term and the chain of its hits.
type term struct {
	text        string
	first, last int32 // in hits
	count       int32
}

// A hit is a term in a document.
type hit struct {
	doc  uint32
	freq uint32
	norm uint32 // the bits of a float
	next int32  // of the same term, or -1
}

func newField(name string) *field {
	return &field{name: name, number: map[string]int32{}}
}

func (f *field) add(doc uint32, in segment.Field, norm func(string, int) float32) {
	length := in.Length()
	f.docs++
	f.length += uint64(length)
	bits := math.Float32bits(norm(f.name, length))
	in.EachTerm(func(t segment.FieldTerm) { f.hit(t.Term(), doc, uint32(t.Frequency()), bits) })
}

// hit adds a term in a document; a term that comes again in one document
// counts for more.
func (f *field) hit(text []byte, doc, freq, norm uint32) {
	n, ok := f.number[string(text)]
	at := int32(len(f.hits))
	if !ok {
		n = int32(len(f.terms))
		f.terms = append(f.terms, term{text: string(text), first: at, last: at})
		f.number[f.terms[n].text] = n
	}
	t := &f.terms[n]
	if t.count > 0 {
		if last := &f.hits[t.last]; last.doc == doc {
			last.freq += freq
			return
		}
		f.hits[t.last].next = at
	}
	f.hits = append(f.hits, hit{doc: doc, freq: freq, norm: norm, next: -1})
	t.last = at
	t.count++
}

// dictionaries are builders to be used again, for a new one is large.
var dictionaries = sync.Pool{New: func() any { return &dictionary{} }}

type dictionary struct {
	buf     bytes.Buffer
	builder *vellum.Builder
}

func (d *dictionary) start() error {
	d.buf.Reset()
	if d.builder != nil {
		return d.builder.Reset(&d.buf)
	}
	var err error
	d.builder, err = vellum.New(&d.buf, nil)
	return err
}

// writeField writes the lists of a field and its dictionary.
func (b *builder) writeField(f *field) error {
	d := dictionaries.Get().(*dictionary)
	if err := d.start(); err != nil {
		return err
	}
	slices.SortFunc(f.terms, func(s, t term) int { return cmp.Compare(s.text, t.text) })
	for i := range f.terms {
		at, err := b.writeList(f, &f.terms[i])
		if err == nil {
			err = d.builder.Insert([]byte(f.terms[i].text), at)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	if err := d.builder.Close(); err != nil {
		return fmt.Errorf("field %s: %w", f.name, err)
	}
	f.dictionary = uint64(len(b.out))
	b.out = binary.AppendUvarint(b.out, uint64(d.buf.Len()))
	b.out = append(b.out, d.buf.Bytes()...)
	dictionaries.Put(d)
	return nil
}

// singleHit marks a value in the dictionary that is itself the list of a term:
// 31 bits of a norm and 31 bits of a document number.
const singleHit = 1 << 63

// writeList writes the list of a term and returns what leads to it.
func (b *builder) writeList(f *field, t *term) (uint64, error) {
	if h := f.hits[t.first]; t.count == 1 && h.freq == 1 {
		return singleHit | uint64(h.norm)<<31 | uint64(h.doc), nil
	}
	docs := roaring.New()
	freqs := uint64(len(b.out))
	b.writeFreqs(f, t, docs)
	at := uint64(len(b.out))
	b.out = binary.AppendUvarint(b.out, freqs)
	b.out = binary.AppendUvarint(b.out, 0) // no locations
	packed, err := docs.ToBytes()
	if err != nil {
		return 0, err
	}
	b.out = binary.AppendUvarint(b.out, uint64(len(packed)))
	b.out = append(b.out, packed...)
	return at, nil
}

// writeFreqs writes how often each document holds the term, in chunks by
// document number, after the ends of the chunks.
func (b *builder) writeFreqs(f *field, t *term, docs *roaring.Bitmap) {
	size := b.docs / (uint64(t.count)/listChunk + 1)
	ends := make([]uint64, (b.docs-1)/size+1)
	var data []byte
	chunk := uint64(0)
	for i := t.first; i >= 0; i = f.hits[i].next {
		h := f.hits[i]
		docs.Add(h.doc)
		for ; chunk < uint64(h.doc)/size; chunk++ {
			ends[chunk] = uint64(len(data))
		}
		data = binary.AppendUvarint(data, uint64(h.freq)<<1) // the last bit would say that there are locations
		data = binary.AppendUvarint(data, uint64(h.norm))
	}
	for ; chunk < uint64(len(ends)); chunk++ {
		ends[chunk] = uint64(len(data))
	}
	b.out = binary.AppendUvarint(b.out, uint64(len(ends)))
	for _, end := range ends {
		b.out = binary.AppendUvarint(b.out, end)
	}
	b.out = append(b.out, data...)
}
