package segfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	segment "github.com/blugelabs/bluge_segment_api"
)

// A Value is a stored value of a document.
type Value struct {
	Field string
	Bytes []byte
}

var errStored = fmt.Errorf("%w in its stored values", ErrDamaged)

// The stored values of a document are, one after the other, the number of the
// field and the length of the value as it is coded, both as uvarints, and the
// value. After those of all documents comes where each document begins, and
// where the last one ends, in placeLen bytes each; and then the list of words.
const placeLen = 8

// A storedWriter collects the values of documents and then writes them, for
// which words have codes depends on all of them.
type storedWriter struct {
	coder  *coder
	words  []uint32      // of all values, one after the other; see raw
	long   []byte        // the raw ones, each after its length
	values []storedValue // of all documents
	docs   []int         // where in values each ends
}

// raw stands for a word that is too long to have a number: those of a vector would
// fill the table.
const raw = math.MaxUint32

type storedValue struct {
	field int
	end   int // in words
}

func newStoredWriter() *storedWriter { return &storedWriter{coder: newCoder()} }

func (w *storedWriter) add(field int, value []byte) {
	for len(value) > 0 {
		var word []byte
		if word, value = cutWord(value); len(word) > maxWord {
			w.words = append(w.words, raw)
			w.long = append(binary.AppendUvarint(w.long, uint64(len(word))), word...)
			continue
		}
		n := w.coder.number(word)
		w.coder.counts[n]++
		w.words = append(w.words, n)
	}
	w.values = append(w.values, storedValue{field, len(w.words)})
}

// reset forgets all values, and keeps the room.
func (w *storedWriter) reset() {
	w.coder.reset()
	w.words, w.long, w.values, w.docs = w.words[:0], w.long[:0], w.values[:0], w.docs[:0]
}

// endDocument says that the values which follow are of another document.
func (w *storedWriter) endDocument() { w.docs = append(w.docs, len(w.values)) }

// write writes it all, with other numbers for the fields, and returns where the
// places of the documents are.
func (w *storedWriter) write(out *output, numbers []int) (places uint64) {
	w.coder.settle()
	starts := make([]uint64, 0, len(w.docs)+1)
	var coded []byte
	value, word, long := 0, 0, w.long
	for _, end := range w.docs {
		starts = append(starts, out.len())
		for ; value < end; value++ {
			v := w.values[value]
			coded, long = w.code(coded[:0], w.words[word:v.end], long)
			writeValue(out, numbers[v.field], coded)
			word = v.end
		}
	}
	return writePlaces(out, append(starts, out.len()), w.coder)
}

// code appends words as they are written, and returns the raw ones that are left.
func (w *storedWriter) code(dst []byte, words []uint32, long []byte) (coded, left []byte) {
	for _, n := range words {
		if n != raw {
			dst = w.coder.append(dst, n)
			continue
		}
		size, n := binary.Uvarint(long)
		dst = appendLiteral(dst, long[n:n+int(size)])
		long = long[n+int(size):]
	}
	return dst, long
}

func writeValue(out *output, field int, coded []byte) {
	out.uvarint(uint64(field))
	out.uvarint(uint64(len(coded)))
	out.bytes(coded)
}

// writePlaces writes what follows the values.
func writePlaces(out *output, places []uint64, words *coder) uint64 {
	at := out.len()
	for _, place := range places {
		out.uint64(place)
	}
	words.writeTo(out)
	return at
}

// loadWords finds the list of words.
func (s *Segment) loadWords() error {
	at := s.storedAt + (s.docs+1)*placeLen
	const sizeLen = 4
	sizes, err := s.read(at, 2*sizeLen)
	if err != nil {
		return err
	}
	at += 2 * sizeLen
	slots := slotLen * uint64(binary.BigEndian.Uint32(sizes))
	if s.words.slots, err = s.read(at, slots); err != nil {
		return err
	}
	s.words.long, err = s.read(at+slots, uint64(binary.BigEndian.Uint32(sizes[sizeLen:])))
	return err
}

// storedOf is what was written of a document.
func (s *Segment) storedOf(doc uint32) ([]byte, error) {
	places, err := s.read(s.storedAt+uint64(doc)*placeLen, 2*placeLen)
	if err != nil {
		return nil, err
	}
	start, end := binary.BigEndian.Uint64(places), binary.BigEndian.Uint64(places[placeLen:])
	if start > end {
		return nil, errStored
	}
	return s.read(start, end-start)
}

// nextValue reads the first of some values.
func nextValue(values []byte) (field uint64, coded, rest []byte, err error) {
	field, n := binary.Uvarint(values)
	if n <= 0 {
		return 0, nil, nil, errStored
	}
	size, k := binary.Uvarint(values[n:])
	if k <= 0 || size > uint64(len(values)-n-k) {
		return 0, nil, nil, errStored
	}
	values = values[n+k:]
	return field, values[:size], values[size:], nil
}

// A room is where the stored values of a document are unpacked.
type room struct {
	data   []byte
	values []Value
}

var rooms = sync.Pool{New: func() any { return &room{} }}

// Stored calls fn with the stored values of a document, in the order of the
// fields. They are gone when it returns.
func (d *Dictionary) Stored(doc uint32, fn func([]Value)) error { return d.segment.stored(doc, fn) }

func (s *Segment) stored(doc uint32, fn func([]Value)) error {
	if uint64(doc) >= s.docs {
		return errOutside
	}
	values, err := s.storedOf(doc)
	if err != nil {
		return err
	}
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	if err := r.unpack(s, values); err != nil {
		return err
	}
	fn(r.values)
	return nil
}

func (r *room) unpack(s *Segment, values []byte) error {
	r.values, r.data = r.values[:0], r.data[:0]
	fields := s.fields
	for len(values) > 0 {
		field, coded, rest, err := nextValue(values)
		if err != nil {
			return err
		}
		if field >= uint64(len(fields)) {
			return errStored
		}
		start := len(r.data)
		data, err := s.words.appendText(r.data, coded)
		if err != nil {
			return err
		}
		r.data = data
		r.values = append(r.values, Value{fields[field], data[start:len(data):len(data)]})
		values = rest
	}
	return nil
}

// VisitStoredFields calls visit with each stored value of a document until it
// returns false.
func (s *Segment) VisitStoredFields(doc uint64, visit segment.StoredFieldVisitor) error {
	if doc >= s.docs {
		return nil
	}
	return s.stored(uint32(doc), func(values []Value) {
		for _, v := range values {
			if !visit(v.Field, v.Bytes) {
				return
			}
		}
	})
}
