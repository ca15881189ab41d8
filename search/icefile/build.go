package icefile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
	"github.com/golang/snappy"
)

// keyField is the field that ice wants first.
const keyField = "_id"

// A Document is one that New makes a segment of. Its terms have no locations,
// and what is to be read by its number is in its Row, not in its fields.
type Document interface {
	segment.Document
	Row() Row
}

// New makes a segment of documents, at least one, each a Document. norm is
// called with the name of a field and how long it is in a document; it must not
// return 0, which the format keeps for itself. The second result is the size of
// the segment in bytes.
func New(docs []segment.Document, norm func(string, int) float32) (segment.Segment, uint64, error) {
	b := newBuilder(docs, norm)
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

// A builder collects the terms of documents and writes their stored values as
// they come.
type builder struct {
	norm   func(string, int) float32
	docs   uint64
	rows   *rowWriter
	fields []*field
	number map[string]int // of fields, by name

	out    []byte
	stored []uint64 // where the stored values of each document begin
	values []value  // of the document at hand
	packed []byte
}

type value struct {
	field int
	data  []byte
}

// newBuilder numbers the fields in the order of their names, as ice does.
func newBuilder(docs []segment.Document, norm func(string, int) float32) *builder {
	b := &builder{norm: norm, docs: uint64(len(docs)), rows: newRowWriter(len(docs)), number: map[string]int{}}
	names := []string{}
	for _, d := range docs {
		d.EachField(func(f segment.Field) {
			if name := f.Name(); name != keyField && !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	slices.Sort(names)
	for i, name := range append([]string{keyField}, names...) {
		b.fields = append(b.fields, newField(name))
		b.number[name] = i
	}
	return b
}

func (b *builder) add(doc uint32, d segment.Document) error {
	own, ok := d.(Document)
	if !ok {
		return fmt.Errorf("a %T has no row", d)
	}
	b.values = b.values[:0]
	d.EachField(func(in segment.Field) {
		n := b.number[in.Name()]
		b.fields[n].add(doc, in, b.norm)
		if in.Store() {
			b.values = append(b.values, value{n, in.Value()})
		}
	})
	slices.SortStableFunc(b.values, func(v, w value) int { return cmp.Compare(v.field, w.field) })
	b.store()
	return b.rows.add(own.Row())
}

// store writes the stored values of a document: what they are, and then the
// values themselves, compressed.
func (b *builder) store() {
	var meta, data []byte
	for _, v := range b.values {
		meta = binary.AppendUvarint(meta, uint64(v.field))
		meta = binary.AppendUvarint(meta, uint64(len(data)))
		meta = binary.AppendUvarint(meta, uint64(len(v.data)))
		data = append(data, v.data...)
	}
	b.packed = snappy.Encode(b.packed[:cap(b.packed)], data)
	b.stored = append(b.stored, uint64(len(b.out)))
	b.out = binary.AppendUvarint(b.out, uint64(len(meta)))
	b.out = binary.AppendUvarint(b.out, uint64(len(b.packed)))
	b.out = append(b.out, meta...)
	b.out = append(b.out, b.packed...)
}

// file writes all that follows the stored values.
func (b *builder) file() ([]byte, error) {
	storedIndex := uint64(len(b.out))
	for _, at := range b.stored {
		b.out = binary.BigEndian.AppendUint64(b.out, at)
	}
	for _, f := range b.fields {
		if err := b.writeField(f); err != nil {
			return nil, err
		}
	}
	columns := uint64(len(b.out))
	for range b.fields {
		b.out = binary.AppendUvarint(b.out, noColumn) // where it begins
		b.out = binary.AppendUvarint(b.out, noColumn) // and ends
	}
	fieldIndex := b.writeFieldIndex()
	b.writeFooter(storedIndex, fieldIndex, columns)
	b.out = b.rows.appendTo(b.out)
	return binary.BigEndian.AppendUint32(b.out, crc32.ChecksumIEEE(b.out)), nil
}

// writeFieldIndex writes what there is of each field, and returns where the
// list of the places begins.
func (b *builder) writeFieldIndex() uint64 {
	var places []uint64
	for _, f := range b.fields {
		places = append(places, uint64(len(b.out)))
		b.out = binary.AppendUvarint(b.out, f.dictionary)
		b.out = binary.AppendUvarint(b.out, uint64(len(f.name)))
		b.out = append(b.out, f.name...)
		b.out = binary.AppendUvarint(b.out, f.docs)
		b.out = binary.AppendUvarint(b.out, f.length)
	}
	start := uint64(len(b.out))
	for _, at := range places {
		b.out = binary.BigEndian.AppendUint64(b.out, at)
	}
	return start
}

func (b *builder) writeFooter(storedIndex, fieldIndex, columns uint64) {
	for _, n := range []uint64{b.docs, storedIndex, fieldIndex, columns} {
		b.out = binary.BigEndian.AppendUint64(b.out, n)
	}
	b.out = binary.BigEndian.AppendUint32(b.out, chunkMode)
	b.out = binary.BigEndian.AppendUint32(b.out, ice.Version)
	b.out = binary.BigEndian.AppendUint32(b.out, crc32.ChecksumIEEE(b.out))
}

// How ice divides lists into chunks: into so many that each has about a
// thousand documents.
const (
	chunkMode = 1025
	listChunk = 1024
)

// noColumn stands for the place of a column of ice's own that is not there.
const noColumn = math.MaxUint64
