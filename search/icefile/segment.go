package icefile

import (
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// A Segment is a segment that ice reads, and whose lists can be read in rows
// besides. It is safe for concurrent use.
type Segment struct {
	*ice.Segment
	data  *segment.Data
	terms map[string]*vellum.FST // by field
}

// Load makes a segment of the bytes of a file. Damaged bytes may make it, or
// any later use, panic.
func Load(data *segment.Data) (*Segment, error) {
	loaded, err := ice.Load(data)
	if err != nil {
		return nil, err
	}
	own, ok := loaded.(*ice.Segment)
	if !ok {
		return nil, fmt.Errorf("ice loads a %T", loaded)
	}
	s := &Segment{Segment: own, data: data}
	return s, s.loadTerms()
}

// WriteTo writes the segment as a file.
func (s *Segment) WriteTo(w io.Writer, _ chan struct{}) (int64, error) { return s.data.WriteTo(w) }

// Merge is ice.Merge for segments of this package.
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
