package search

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/blugelabs/bluge/index"
	"github.com/blugelabs/bluge/index/mergeplan"
)

// Segments are joined until there are few of them, for a search looks into
// each: a large one, and smaller and smaller ones for what came later. Those
// below floorSegment notes count alike, so that a single note costs no more
// than joining a few small ones.
const (
	floorSegment  = 500
	segmentGrowth = 8
	minSegments   = 3
)

// mergePlan is what Bluge plans merges by. For a bulk writer nothing is merged
// before compact asks for it.
func (w *writer) mergePlan(bulk bool) mergeplan.Options {
	o := mergeplan.Options{
		MaxSegmentSize:       mergeplan.MaxSegmentSizeLimit,
		SegmentsPerMergeTask: 10,
		FloorSegmentSize:     floorSegment,
		ReclaimDeletesWeight: 2,
		ScoreSegments:        scoreRoster,
	}
	if bulk {
		o.SegmentsPerMergeTask = math.MaxInt
	}
	o.CalcBudget = func(notes, _ int64, _ *mergeplan.Options) int {
		switch {
		case w.single.Load():
			return 1
		case bulk:
			return math.MaxInt
		}
		return segmentBudget(notes)
	}
	return o
}

func segmentBudget(notes int64) int {
	tiers := math.Log(float64(max(notes, floorSegment))/floorSegment) / math.Log(segmentGrowth)
	return minSegments + int(tiers)
}

// scoreRoster keeps Bluge from rewriting a segment by itself over and over,
// which it takes for progress when it may have but one segment.
func scoreRoster(roster []mergeplan.Segment, o *mergeplan.Options) float64 {
	if len(roster) == 1 {
		return math.MaxFloat64
	}
	return mergeplan.ScoreSegments(roster, o)
}

// mergeWait is how long compact lets Bluge merge before it gives it another
// reason to: it plans merges only when something was written.
const mergeWait = 300 * time.Millisecond

// compact joins all segments into one and drops what is deleted from the disk.
// touch has to write something small; a single segment is not rewritten
// otherwise.
func (w *writer) compact(ctx context.Context, touch func() error) error {
	w.single.Store(true)
	defer w.single.Store(false)
	select {
	case <-w.failed: // of an earlier time
	default:
	}
	for {
		if err := w.settle(ctx); err != nil {
			return err
		}
		segments, deleted, err := w.shape()
		switch {
		case err != nil:
			return err
		case segments <= 1 && !deleted:
			return w.forget(ctx)
		case segments == 1:
			if err := touch(); err != nil {
				return err
			}
		}
		if err := w.awaitMerge(ctx); err != nil {
			return fmt.Errorf("compact the search index: %w", err)
		}
	}
}

func (w *writer) awaitMerge(ctx context.Context) error {
	select {
	case <-w.merged:
		return nil
	case err := <-w.failed:
		return err
	case <-time.After(mergeWait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// How often forget tries, and how long it waits in between.
const (
	forgetRounds = 50
	forgetWait   = 10 * time.Millisecond
)

// forget makes new snapshots until Bluge has removed the files of those from
// before. A file that somebody still reads stays until later.
func (w *writer) forget(ctx context.Context) error {
	for range forgetRounds {
		if err := w.settle(ctx); err != nil {
			return err
		}
		files, err := w.dir.List(index.ItemKindSegment)
		if err != nil {
			return err
		}
		segments, _, err := w.shape()
		if err != nil || len(files) <= segments {
			return err
		}
		time.Sleep(forgetWait)
	}
	return nil
}

// shape is how many segments there are, and whether anything in them is
// deleted.
func (w *writer) shape() (segments int, deleted bool, err error) {
	snap, err := w.bluge.Reader()
	if err != nil {
		return 0, false, err
	}
	for _, s := range snap.Segments() {
		segments++
		deleted = deleted || s.Deleted() != nil && !s.Deleted().IsEmpty()
	}
	return segments, deleted, snap.Close()
}

// settle waits until everything applied so far is on disk, together with what
// merging has made of it.
func (w *writer) settle(ctx context.Context) error {
	if err := w.apply(index.NewBatch()); err != nil {
		return err
	}
	return w.saved.wait(ctx)
}
