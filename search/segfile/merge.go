package segfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring"
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
	fields  []int    // new numbers of its fields
	words   []uint32 // numbers of the words in its list
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
// if the bytes of a segment are not what its checksum says, for merged they would
// have one that is right, and if they make no sense although they are.
func (m *merger) WriteTo(w io.Writer, closed chan struct{}) (int64, error) {
	m.out, m.closed = output{w: w}, closed
	if err := m.write(); err != nil {
		sound := m.out.err != nil || errors.Is(err, segment.ErrClosed) || errors.Is(err, errSpaces)
		if !sound && !errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
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
	storedIndex, err := m.mergeStored()
	if err != nil {
		return err
	}
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
	slices.SortFunc(names, compareFields)
	m.fields = slices.Compact(names)
	number := map[string]int{}
	for i, name := range m.fields {
		number[name] = i
	}
	for _, p := range m.parts {
		p.fields = nil
		for _, name := range p.Fields() {
			p.fields = append(p.fields, number[name])
		}
	}
}

// mergeStored writes the stored values of the documents that stay, in words
// chosen anew, and returns where their places are.
func (m *merger) mergeStored() (places uint64, err error) {
	words := newCoder()
	if err := m.countWords(words); err != nil {
		return 0, err
	}
	words.settle()
	starts := make([]uint64, 0, m.docs+1)
	var coded []byte
	err = m.eachDocument(func(p *mergePart, values []byte) error {
		starts = append(starts, m.out.len())
		for len(values) > 0 {
			field, value, rest, err := nextValue(values)
			if err != nil {
				return err
			}
			if field >= uint64(len(p.fields)) {
				return errStored
			}
			coded = coded[:0]
			if err := p.eachWord(words, value,
				func(n uint32) { coded = words.append(coded, n) },
				func(word []byte) { coded = appendLiteral(coded, word) }); err != nil {
				return err
			}
			writeValue(&m.out, p.fields[field], coded)
			values = rest
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return writePlaces(&m.out, append(starts, m.out.len()), words), nil
}

// countWords counts the words of all documents that stay.
func (m *merger) countWords(words *coder) error {
	for _, p := range m.parts {
		p.words = make([]uint32, p.Segment.words.len())
		for code := range p.words {
			word := p.Segment.words.at(uint32(code))
			if word == nil {
				return errStored
			}
			p.words[code] = words.number(word)
		}
	}
	return m.eachDocument(func(p *mergePart, values []byte) error {
		for len(values) > 0 {
			_, value, rest, err := nextValue(values)
			if err != nil {
				return err
			}
			if err := p.eachWord(words, value, func(n uint32) { words.counts[n]++ }, func([]byte) {}); err != nil {
				return err
			}
			values = rest
		}
		return nil
	})
}

// eachDocument calls fn with the stored values of each document that stays.
func (m *merger) eachDocument(fn func(p *mergePart, values []byte) error) error {
	for _, p := range m.parts {
		for doc := range uint32(p.Count()) {
			if p.number(doc) == dropped {
				continue
			}
			values, err := p.storedOf(doc)
			if err != nil {
				return err
			}
			if err := fn(p, values); err != nil {
				return err
			}
		}
		if err := m.proceed(); err != nil {
			return err
		}
	}
	return nil
}

// eachWord calls fn with the number of each word of a value, and long with each
// that is too long to have one: those of a vector would fill the table.
func (p *mergePart) eachWord(words *coder, value []byte, fn func(number uint32), long func(word []byte)) error {
	for len(value) > 0 {
		code, word, rest, err := next(value)
		switch {
		case err != nil:
			return err
		case len(word) > maxWord:
			long(word)
		case word != nil:
			fn(words.number(word))
		case int(code) < len(p.words):
			fn(p.words[code])
		default:
			return errStored
		}
		value = rest
	}
	return nil
}

// A mergeTerms goes over the terms of a field of one segment.
type mergeTerms struct {
	*mergePart
	at cursor
}

// stopEvery is after how many terms a merge looks whether to stop.
const stopEvery = 1024

// mergeField writes the terms of a field that some document has which stays.
func (m *merger) mergeField(name string) (dictionary uint64, err error) {
	w := newFieldWriter(&m.out)
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
			if bytes.Equal(t.at.term, text) {
				if docs, err = t.appendDocs(docs); err != nil {
					return 0, err
				}
				if more, err = t.at.next(); err != nil {
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
	return w.end(), nil
}

// termsOf stands at the first term of a field in each segment that has one.
func (m *merger) termsOf(name string) ([]*mergeTerms, error) {
	var open []*mergeTerms
	for _, p := range m.parts {
		terms := p.terms[name]
		if terms == nil {
			continue
		}
		t := &mergeTerms{mergePart: p}
		t.at.start(terms)
		some, err := t.at.next()
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
	first := open[0].at.term
	for _, t := range open[1:] {
		if bytes.Compare(t.at.term, first) < 0 {
			first = t.at.term
		}
	}
	return first
}

// appendDocs appends the new numbers of the documents that hold the term.
func (t *mergeTerms) appendDocs(docs []uint32) ([]uint32, error) {
	start := len(docs)
	var err error
	if docs, err = t.at.docs.AppendTo(docs); err != nil {
		return nil, err
	}
	stay := docs[:start]
	for _, doc := range docs[start:] {
		if uint64(doc) >= t.Count() {
			return nil, errOutside
		}
		if n := t.number(doc); n != dropped {
			stay = append(stay, n)
		}
	}
	return stay, nil
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
