package icefile

import (
	"io"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// A Segment is a segment in memory. ice reads it; only how it is written
// differs.
type Segment struct {
	*ice.Segment
	file []byte
}

// WriteTo writes the segment as a file.
func (s *Segment) WriteTo(w io.Writer, _ chan struct{}) (int64, error) {
	n, err := w.Write(s.file)
	return int64(n), err
}

// Merge is ice.Merge for segments of both makes.
func Merge(segments []segment.Segment, drops []*roaring.Bitmap, bufferSize int) segment.Merger {
	plain := make([]segment.Segment, len(segments))
	for i, s := range segments {
		plain[i] = s
		if own, ok := s.(*Segment); ok {
			plain[i] = own.Segment
		}
	}
	return ice.Merge(plain, drops, bufferSize)
}
