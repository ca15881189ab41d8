package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/blugelabs/bluge/index"
	"github.com/blugelabs/bluge/index/mergeplan"
)

// A writer is a Bluge writer whose batches can be waited for and whose
// segments can be joined. Its methods are safe for concurrent use; close comes
// last.
type writer struct {
	bluge  *index.Writer
	saved  *savings
	single atomic.Bool   // join all segments into one
	merged chan struct{} // told after each round of merging
	failed chan error    // told the last trouble
}

func openWriter(dir *directory, trouble func(error)) (*writer, error) {
	w := &writer{saved: newSavings(trouble), merged: make(chan struct{}, 1), failed: make(chan error, 1)}
	conf := blugeConfig(dir)
	conf.AsyncError = w.fail
	conf.MergePlanOptions = mergeplan.Options{
		MaxSegmentSize:       mergeplan.DefaultMergePlanOptions.MaxSegmentSize,
		SegmentsPerMergeTask: 10,
		FloorSegmentSize:     floorSegment,
		ReclaimDeletesWeight: 2,
		CalcBudget:           w.budget,
	}
	conf.EventCallback = w.event
	var err error
	w.bluge, err = index.OpenWriter(conf)
	return w, err
}

// Segments are joined until there are few of them, for a search looks into
// each: a large one, and smaller and smaller ones for what came later. Those
// below floorSegment notes count alike, so that a single note costs no more
// than joining a few small ones.
const (
	floorSegment  = 500
	segmentGrowth = 8
	minSegments   = 3
)

func (w *writer) budget(notes, _ int64, _ *mergeplan.Options) int {
	if w.single.Load() {
		return 1
	}
	tiers := math.Log(float64(max(notes, floorSegment))/floorSegment) / math.Log(segmentGrowth)
	return minSegments + int(tiers)
}

func (w *writer) event(e index.Event) {
	if e.Kind != index.EventKindMergerProgress {
		return
	}
	select {
	case w.merged <- struct{}{}:
	default:
	}
}

func (w *writer) fail(err error) {
	w.saved.failed(err)
	select {
	case w.failed <- err:
	default:
	}
}

// apply makes a batch searchable. It is written soon after.
func (w *writer) apply(batch *index.Batch) error {
	batch.SetPersistedCallback(w.saved.begin())
	applied := false
	defer func() { // also when Bluge panics
		if !applied {
			w.saved.undo()
		}
	}()
	err := w.bluge.Batch(batch)
	applied = err == nil
	return err
}

// settle waits until everything applied so far is on disk, together with what
// merging has made of it.
func (w *writer) settle(ctx context.Context) error {
	if err := w.apply(index.NewBatch()); err != nil {
		return err
	}
	return w.saved.wait(ctx)
}

// mergeWait is how long compact lets Bluge merge before it gives it another
// reason to: it plans merges only when something was written.
const mergeWait = 100 * time.Millisecond

// compact joins all segments into one and drops what is deleted from the disk.
func (w *writer) compact(ctx context.Context) error {
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
		n, err := w.segments()
		if err != nil {
			return err
		}
		if n <= 1 {
			return w.forget(ctx)
		}
		select {
		case <-w.merged:
		case err := <-w.failed:
			return fmt.Errorf("compact the search index: %w", err)
		case <-time.After(mergeWait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// forget makes new snapshots until Bluge keeps none from before.
func (w *writer) forget(ctx context.Context) error {
	for range keptSnapshots + 1 {
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) segments() (int, error) {
	snap, err := w.bluge.Reader()
	if err != nil {
		return 0, err
	}
	n := len(snap.Segments())
	return n, snap.Close()
}

// abandonWait is how long abandon waits.
const abandonWait = 5 * time.Second

// abandon closes a writer that works on damaged files, and does not wait long
// for goroutines that may never end.
func (w *writer) abandon() error {
	done := make(chan error, 1)
	go func() { done <- w.bluge.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(abandonWait):
		return nil
	}
}

// close waits for the disk first.
func (w *writer) close() error {
	return errors.Join(w.saved.wait(context.Background()), w.bluge.Close())
}
