package icefile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// Merge joins segments of this package into one, without the documents in
// drops, of which there is one or nil for each segment.
func Merge(segments []segment.Segment, drops []*roaring.Bitmap, bufferSize int) segment.Merger {
	m := &merger{drops: drops}
	plain := make([]segment.Segment, len(segments))
	for i, s := range segments {
		own := s.(*Segment)
		m.rows = append(m.rows, own.rows)
		plain[i] = own.Segment
	}
	m.Merger = ice.Merge(plain, drops, bufferSize)
	return m
}

// A merger is one of ice that writes the rows as well.
type merger struct {
	segment.Merger
	rows  []*Rows
	drops []*roaring.Bitmap
}

func (m *merger) WriteTo(w io.Writer, closed chan struct{}) (int64, error) {
	sum := crc32.NewIEEE()
	n, err := m.Merger.WriteTo(io.MultiWriter(w, sum), closed)
	if err != nil {
		return n, err
	}
	rows, err := m.mergeRows()
	if err != nil {
		return n, fmt.Errorf("merge the rows of segments: %w", err)
	}
	rows = binary.BigEndian.AppendUint32(rows, crc32.Update(sum.Sum32(), crc32.IEEETable, rows))
	written, err := w.Write(rows)
	return n + int64(written), err
}

// mergeRows numbers the documents as ice does: as they come, without those that
// are dropped.
func (m *merger) mergeRows() ([]byte, error) {
	docs := 0
	for i, rows := range m.rows {
		docs += rows.Len()
		if m.drops[i] != nil {
			docs -= int(m.drops[i].GetCardinality())
		}
	}
	out := newRowWriter(docs)
	for i, rows := range m.rows {
		for doc := range uint32(rows.Len()) {
			if m.drops[i] != nil && m.drops[i].Contains(doc) {
				continue
			}
			if err := out.add(rows.row(doc)); err != nil {
				return nil, err
			}
		}
	}
	return out.appendTo(nil), nil
}
