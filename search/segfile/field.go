package segfile

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
)

// A Field collects the terms of one field in all documents of a Builder.
type Field struct {
	name  string
	texts table
	terms []term   // by number in texts
	hits  []uint32 // numbers in texts, document by document
	ends  []int    // where in hits each document ends, but for the last ones
}

// A term is how many documents hold it, and the last of them and one.
type term struct{ count, last uint32 }

func newField(name string) *Field { return &Field{name: name, texts: newTable()} }

// reset forgets all terms, and keeps the room.
func (f *Field) reset() {
	f.texts.reset()
	f.terms, f.hits, f.ends = f.terms[:0], f.hits[:0], f.ends[:0]
}

// Number is the number of a term, by which Hit knows it until the Builder has
// made its segment.
func (f *Field) Number(text []byte) uint32 {
	n, isNew := f.texts.number(text)
	if isNew {
		f.terms = append(f.terms, term{})
	}
	return n
}

// hit adds a term to a document, which is no earlier than that of the hit before
// it, however often it comes there.
func (f *Field) hit(number, doc uint32) {
	t := &f.terms[number]
	if t.last == doc+1 {
		return
	}
	t.last = doc + 1
	t.count++
	for len(f.ends) < int(doc) {
		f.ends = append(f.ends, len(f.hits))
	}
	f.hits = append(f.hits, number)
}

// write writes the lists of a field and its dictionary, and returns where that
// is.
func (f *Field) write(out *output) (dictionary uint64, err error) {
	w, err := newFieldWriter(out)
	if err != nil {
		return 0, fmt.Errorf("field %s: %w", f.name, err)
	}
	docs, ends := f.byTerm()
	for _, n := range f.inOrder() {
		if err := w.add(f.texts.at(n), docs[ends[n]-f.terms[n].count:ends[n]]); err != nil {
			return 0, fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	if dictionary, err = w.end(); err != nil {
		return 0, fmt.Errorf("field %s: %w", f.name, err)
	}
	return dictionary, nil
}

// byTerm is the documents of each term, one after the other, and where those of
// each end.
func (f *Field) byTerm() (docs, ends []uint32) {
	docs, ends = make([]uint32, len(f.hits)), make([]uint32, len(f.terms))
	at := uint32(0)
	for n, t := range f.terms {
		ends[n] = at
		at += t.count
	}
	from := 0
	for doc := 0; from < len(f.hits); doc++ {
		to := len(f.hits)
		if doc < len(f.ends) {
			to = f.ends[doc]
		}
		for _, n := range f.hits[from:to] {
			docs[ends[n]] = uint32(doc)
			ends[n]++
		}
		from = to
	}
	return docs, ends
}

// inOrder is the numbers of the terms in the order of their texts.
func (f *Field) inOrder() []uint32 {
	order := make([]uint32, f.texts.len())
	for n := range order {
		order[n] = uint32(n)
	}
	slices.SortFunc(order, func(m, n uint32) int { return bytes.Compare(f.texts.at(m), f.texts.at(n)) })
	return order
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
