package search

import (
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring"
	"github.com/blugelabs/bluge/index"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/search/segfile"
)

// blugeConfig is how every part of this package opens a Bluge directory.
func blugeConfig(dir index.Directory) index.Config {
	c := index.DefaultConfigWithDirectory(func() index.Directory { return dir })
	c.NumAnalysisWorkers = 1 // documents come analyzed
	c.UnsafeBatch = true     // a step is searchable at once and written soon after; git holds the notes
	c.PersisterNapTimeMSec = 5
	c.DeletionPolicyFunc = func() index.DeletionPolicy { return index.NewKeepNLatestDeletionPolicy(keptSnapshots) }
	return c.WithSegmentType(segfile.Type).WithSegmentVersion(segfile.Version).WithSegmentPlugin(&index.SegmentPlugin{
		Type: segfile.Type, Version: segfile.Version, New: segfile.New, Load: loadSegment, Merge: mergeSegments,
	})
}

// keptSnapshots is how many snapshots stay on disk: one may only go once its
// successor is safe.
const keptSnapshots = 2

func loadSegment(data *segment.Data) (segment.Segment, error) { return segfile.Load(data) }

// mergeSegments runs in a goroutine of Bluge, where a panic over damaged bytes
// would end the process.
func mergeSegments(segments []segment.Segment, drops []*roaring.Bitmap, bufferSize int) segment.Merger {
	return guardedMerger{segfile.Merge(segments, drops, bufferSize)}
}

type guardedMerger struct{ segment.Merger }

func (m guardedMerger) WriteTo(w io.Writer, closed chan struct{}) (n int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("merge segments: %w: %v", segfile.ErrDamaged, r)
		}
	}()
	return m.Merger.WriteTo(w, closed)
}
