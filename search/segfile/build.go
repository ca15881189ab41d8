package segfile

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	segment "github.com/blugelabs/bluge_segment_api"
)

// keyField is the field that comes first.
const keyField = "_id"

// A Document is one that New makes a segment of. Its terms have neither
// frequencies nor locations, and what is to be read by its number is in its Row,
// not in its fields.
type Document interface {
	segment.Document
	Row() Row
}

// New makes a segment of documents, at least one, each a Document. The second
// result is the size of the segment in bytes. Of a Segment as a document it is
// that.
func New(docs []segment.Document, _ func(string, int) float32) (segment.Segment, uint64, error) {
	if len(docs) == 1 {
		if made, ok := docs[0].(made); ok {
			return made.Segment, uint64(made.Size()), nil
		}
	}
	b := NewBuilder()
	for _, d := range docs {
		if err := b.Add(d); err != nil {
			return nil, 0, fmt.Errorf("make a segment: %w", err)
		}
	}
	s, err := b.Segment()
	if err != nil {
		return nil, 0, err
	}
	return s, uint64(s.Size()), nil
}

// A made is a segment that goes to Bluge as if it were a document.
type made struct{ *Segment }

func (made) Analyze()                     {}
func (made) EachField(segment.VisitField) {}

// AsDocument is a document that New makes the segment of, alone in its batch.
func (s *Segment) AsDocument() segment.Document { return made{s} }

// A Builder makes segments of documents that come one by one. It is not safe for
// concurrent use.
type Builder struct {
	fields []*Field
	number map[string]int // of fields, by name

	docs   uint32
	rows   *rowWriter
	stored *storedWriter
	values []value // of the document at hand
}

type value struct {
	field int
	data  []byte
}

// NewBuilder makes a Builder without documents.
func NewBuilder() *Builder {
	b := &Builder{number: map[string]int{}, rows: newRowWriter(0), stored: newStoredWriter()}
	b.Field(keyField)
	return b
}

// Field is the field with a name.
func (b *Builder) Field(name string) *Field { return b.fields[b.numberOf(name)] }

func (b *Builder) numberOf(name string) int {
	n, ok := b.number[name]
	if !ok {
		n = len(b.fields)
		b.number[name] = n
		b.fields = append(b.fields, newField(name))
	}
	return n
}

// Len is how many documents it has, and Size about how many bytes they take.
func (b *Builder) Len() int { return int(b.docs) }

// Size is about how many bytes the documents take in memory, and those of the
// segment at hand that it makes of them.
func (b *Builder) Size() int {
	n := len(b.stored.words)*wordRoom + len(b.stored.coder.text) + len(b.stored.long)
	for _, f := range b.fields {
		n += len(f.hits)*hitRoom + len(f.terms)*termRoom + len(f.texts.text)
	}
	return n
}

// How many bytes a word of a stored value, a hit, and a term take, beside its
// text.
const (
	wordRoom = 4
	hitRoom  = 8
	termRoom = 40
)

// Add adds a document, which is a Document.
func (b *Builder) Add(d segment.Document) error {
	own, ok := d.(Document)
	if !ok {
		return fmt.Errorf("a %T has no row", d)
	}
	b.values = b.values[:0]
	d.EachField(func(in segment.Field) {
		n := b.numberOf(in.Name())
		f := b.fields[n]
		in.EachTerm(func(t segment.FieldTerm) { f.hit(f.Number(t.Term()), b.docs) })
		if in.Store() {
			b.values = append(b.values, value{n, in.Value()})
		}
	})
	slices.SortStableFunc(b.values, func(v, w value) int { return compareFields(b.fields[v.field].name, b.fields[w.field].name) })
	for _, v := range b.values {
		b.stored.add(v.field, v.data)
	}
	b.stored.endDocument()
	b.docs++
	return b.rows.add(own.Row())
}

// Hit adds a term of a field to the last document.
func (b *Builder) Hit(f *Field, number uint32) { f.hit(number, b.docs-1) }

// Segment makes a segment of the documents, at least one, and forgets them.
func (b *Builder) Segment() (*Segment, error) {
	file, err := b.file()
	if err != nil {
		return nil, fmt.Errorf("make a segment: %w", err)
	}
	s, err := Load(segment.NewDataBytes(file))
	if err != nil {
		return nil, fmt.Errorf("make a segment: %w", err)
	}
	for _, f := range b.fields {
		f.reset()
	}
	b.stored.reset()
	b.docs, b.rows = 0, newRowWriter(0)
	return s, nil
}

// memoryRatio is about how many times as much room documents take as in a file.
const memoryRatio = 4

// file writes all that was collected.
func (b *Builder) file() ([]byte, error) {
	out := output{buf: make([]byte, 0, b.Size()/memoryRatio)}
	order, numbers := b.order()
	storedAt := b.stored.write(&out, numbers)
	var fields []writtenField
	for _, f := range order {
		at, err := f.write(&out)
		if err != nil {
			return nil, err
		}
		fields = append(fields, writtenField{f.name, at})
	}
	writeEnd(&out, storedAt, len(b.stored.docs), fields, b.rows)
	return out.buf, nil
}

// order is the fields in the order in which they are written, and the places
// there of those of the Builder.
func (b *Builder) order() (fields []*Field, numbers []int) {
	fields = slices.SortedFunc(slices.Values(b.fields), func(f, g *Field) int { return compareFields(f.name, g.name) })
	for _, f := range b.fields {
		numbers = append(numbers, slices.Index(fields, f))
	}
	return fields, numbers
}

// compareFields puts the field of keys first, and the others by name.
func compareFields(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == keyField:
		return -1
	case b == keyField:
		return 1
	}
	return strings.Compare(a, b)
}

// A writtenField is the name of a field and where its dictionary is.
type writtenField struct {
	name       string
	dictionary uint64
}

// writeEnd writes all that follows the fields: of each its name and where its
// dictionary is; the footer; and the rows.
func writeEnd(out *output, storedAt uint64, docs int, fields []writtenField, rows *rowWriter) {
	start := out.len()
	for _, f := range fields {
		out.uvarint(f.dictionary)
		out.uvarint(uint64(len(f.name)))
		out.bytes([]byte(f.name))
	}
	for _, n := range []uint64{uint64(docs), storedAt, start} {
		out.uint64(n)
	}
	rows.writeTo(out)
	out.uint32(out.checksum())
}

// footerLen is the length of the three numbers in the footer.
const footerLen = 3 * 8

// checksumLen is the length of what ends a file.
const checksumLen = crc32.Size
