package segfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring"
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

// write writes the terms of a field, and returns where the way to find them is.
func (f *Field) write(out *output) (terms uint64, err error) {
	w := newFieldWriter(out)
	docs, ends := f.byTerm()
	for _, n := range f.inOrder() {
		if err := w.add(f.texts.at(n), docs[ends[n]-f.terms[n].count:ends[n]]); err != nil {
			return 0, fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	return w.end(), nil
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

// A fieldWriter writes the terms of a field, which come in their order, with their
// lists.
type fieldWriter struct {
	*termWriter
	list *roaring.Bitmap
	buf  bytes.Buffer
	gaps []byte
}

func newFieldWriter(out *output) *fieldWriter {
	return &fieldWriter{termWriter: newTermWriter(out), list: roaring.New()}
}

// add writes a term with its documents, which are in order.
func (w *fieldWriter) add(text []byte, docs []uint32) error {
	switch n := len(docs); {
	case n == 0:
		return nil
	case n == 1:
		w.termWriter.add(text, oneForm, uint64(docs[0]), nil)
		return nil
	case n <= maxGaps:
		w.gaps = packGaps(w.gaps[:0], docs)
		w.termWriter.add(text, gapsForm, uint64(len(w.gaps)), w.gaps)
		return nil
	}
	w.list.Clear()
	w.list.AddMany(docs)
	w.buf.Reset()
	if _, err := w.list.WriteTo(&w.buf); err != nil {
		return err
	}
	w.termWriter.add(text, packedForm, uint64(w.buf.Len()), w.buf.Bytes())
	return nil
}
