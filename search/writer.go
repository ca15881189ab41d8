package search

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/blugelabs/bluge/index"
)

// A writer is a Bluge writer whose batches can be waited for and whose
// segments can be joined. Its methods are safe for concurrent use; close comes
// last.
type writer struct {
	dir    *directory
	bluge  *index.Writer
	saved  *savings
	single atomic.Bool   // join all segments into one
	merged chan struct{} // told after each round of merging
	failed chan error    // told the last trouble
}

// openWriter opens a writer. A bulk writer joins no segments until compact asks
// for it, so that nothing is merged twice.
func openWriter(dir *directory, opt Options, bulk bool) (*writer, error) {
	w := &writer{dir: dir, saved: newSavings(opt.Trouble), merged: make(chan struct{}, 1), failed: make(chan error, 1)}
	conf := blugeConfig(dir)
	conf.AsyncError = w.fail
	if opt.Gather > 0 {
		conf.PersisterNapTimeMSec = int(opt.Gather.Milliseconds())
	}
	conf.MergePlanOptions = w.mergePlan(bulk)
	if bulk {
		conf.MinSegmentsForInMemoryMerge = math.MaxInt
	}
	conf.EventCallback = w.event
	var err error
	w.bluge, err = index.OpenWriter(conf)
	return w, err
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
