package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// savings follows which steps have reached the disk. Bluge makes a step
// searchable first and writes it later, alone or with others.
type savings struct {
	trouble func(error)

	mu       sync.Mutex
	pending  int
	failures int           // attempts to write that failed
	err      error         // of the last of them
	changed  chan struct{} // closed at the next change
}

func newSavings(trouble func(error)) *savings {
	if trouble == nil {
		trouble = func(error) {}
	}
	return &savings{trouble: trouble, changed: make(chan struct{})}
}

func (s *savings) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// begin announces a step; the returned function is for Bluge to call once it
// is on disk.
func (s *savings) begin() (done func(error)) {
	s.update(func() { s.pending++ })
	return func(error) { s.update(func() { s.pending-- }) }
}

// undo takes back a step that did not come about.
func (s *savings) undo() { s.update(func() { s.pending-- }) }

func (s *savings) failed(err error) {
	s.update(func() {
		s.failures++
		s.err = err
	})
	s.trouble(err)
}

// How long wait waits: for so many attempts to write that fail, and so long
// for a disk that neither takes the last steps nor refuses them.
const (
	attempts = 3
	patience = 30 * time.Second
)

var errSlowDisk = errors.New("the disk did not take them in time")

// wait returns when every step is on disk, or when writing them has failed
// again and again.
func (s *savings) wait(ctx context.Context) error { return s.waitFor(ctx, 0) }

// waitFor is wait until no more than so many steps are missing.
func (s *savings) waitFor(ctx context.Context, missing int) error {
	limit := time.After(patience)
	before := -1
	for {
		s.mu.Lock()
		pending, failures, err, changed := s.pending, s.failures, s.err, s.changed
		s.mu.Unlock()
		if before < 0 {
			before = failures
		}
		switch {
		case pending <= missing:
			return nil
		case failures >= before+attempts:
			return unsaved(pending, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return unsaved(pending, errSlowDisk)
		}
	}
}

func unsaved(steps int, err error) error {
	return fmt.Errorf("%d steps of the search index are not on disk, the log has their notes: %w", steps, err)
}
