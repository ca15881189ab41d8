package icefile

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"

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
// result is the size of the segment in bytes.
func New(docs []segment.Document, _ func(string, int) float32) (segment.Segment, uint64, error) {
	b := newBuilder(docs)
	for i, d := range docs {
		if err := b.add(uint32(i), d); err != nil {
			return nil, 0, fmt.Errorf("make a segment: %w", err)
		}
	}
	file, err := b.file()
	if err != nil {
		return nil, 0, fmt.Errorf("make a segment: %w", err)
	}
	own, err := Load(segment.NewDataBytes(file))
	if err != nil {
		return nil, 0, fmt.Errorf("make a segment: %w", err)
	}
	return own, uint64(len(file)), nil
}

// A builder collects the terms and the stored values of documents.
type builder struct {
	rows   *rowWriter
	fields []*field
	number map[string]int // of fields, by name

	out    output
	stored *storedWriter
	values []value // of the document at hand
}

type value struct {
	field int
	data  []byte
}

// newBuilder numbers the fields in the order of their names.
func newBuilder(docs []segment.Document) *builder {
	b := &builder{rows: newRowWriter(len(docs)), number: map[string]int{}, stored: newStoredWriter()}
	names := []string{}
	for _, d := range docs {
		d.EachField(func(f segment.Field) {
			if name := f.Name(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	for i, name := range inOrder(names) {
		b.fields = append(b.fields, newField(name))
		b.number[name] = i
	}
	return b
}

// inOrder is the fields as they are numbered: that of keys, and the others by
// name.
func inOrder(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return name == keyField })
	slices.Sort(names)
	return slices.Insert(slices.Compact(names), 0, keyField)
}

func (b *builder) add(doc uint32, d segment.Document) error {
	own, ok := d.(Document)
	if !ok {
		return fmt.Errorf("a %T has no row", d)
	}
	b.values = b.values[:0]
	d.EachField(func(in segment.Field) {
		n := b.number[in.Name()]
		b.fields[n].add(doc, in)
		if in.Store() {
			b.values = append(b.values, value{n, in.Value()})
		}
	})
	slices.SortStableFunc(b.values, func(v, w value) int { return cmp.Compare(v.field, w.field) })
	for _, v := range b.values {
		b.stored.add(v.field, v.data)
	}
	b.stored.endDocument()
	return b.rows.add(own.Row())
}

// file writes all that was collected.
func (b *builder) file() ([]byte, error) {
	storedIndex := b.stored.write(&b.out)
	var fields []writtenField
	for _, f := range b.fields {
		at, err := f.write(&b.out)
		if err != nil {
			return nil, err
		}
		fields = append(fields, writtenField{f.name, at})
	}
	writeEnd(&b.out, storedIndex, len(b.stored.docs), fields, b.rows)
	return b.out.buf, nil
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
