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

	mu      sync.Mutex
	pending int
	err     error         // of the last attempt to write, nil once one succeeds
	changed chan struct{} // closed at the next change
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
	return func(err error) {
		s.update(func() {
			s.pending--
			s.err = err
		})
	}
}

// undo takes back a step that did not come about.
func (s *savings) undo() { s.update(func() { s.pending-- }) }

func (s *savings) failed(err error) {
	s.update(func() { s.err = err })
	s.trouble(err)
}

// patience is how long Close waits for a disk that neither takes the last
// steps nor refuses them.
const patience = 30 * time.Second

var errSlowDisk = errors.New("the disk did not take them in time")

// wait returns when every step is on disk or an attempt to write has failed.
func (s *savings) wait(ctx context.Context) error {
	limit := time.After(patience)
	for {
		s.mu.Lock()
		pending, err, changed := s.pending, s.err, s.changed
		s.mu.Unlock()
		if pending == 0 {
			return nil
		}
		if err != nil {
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
