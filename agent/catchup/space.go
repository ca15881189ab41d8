package catchup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/search"
	"cairn/sync/eventlog"
)

// A Space is what is derived of one space's log. It is safe for concurrent
// use.
type Space struct {
	name   string
	log    Log
	keeper *Keeper
	facts  *facts

	indexing sync.Mutex // one step of this space at a time; taken before any lock of facts
	checked  bool       // that rows and facts are as many; guarded by indexing

	mu      sync.Mutex
	indexed [20]byte // tree up to which the index is known to be
	recent  recent
}

// recent is the last append of this process, which need not be read back.
type recent struct {
	from, to plumbing.Hash
	events   []eventlog.Stored
}

// Name is the name of the space.
func (s *Space) Name() string { return s.name }

// Facts calls fn with the facts as they are now. fn may only read, must be
// quick, and must not call the Space.
func (s *Space) Facts(fn func(*projection.Set)) { s.facts.read(fn) }

// Mark says how far the facts are.
func (s *Space) Mark() projection.Mark { return s.facts.at() }

// Indexed is how many of the space's events the index covers.
func (s *Space) Indexed() (int, error) {
	m, err := s.keeper.access.mark(s.name)
	return m.Events, err
}

// IsLevel says whether facts and index are level with the log. It reads the
// log's head and little else.
func (s *Space) IsLevel() (bool, error) {
	head, err := s.log.Head()
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts.at().Tree == head.Tree && s.indexed == head.Tree, nil
}

// LevelFacts brings the facts to a head of the log, which may be one that the
// caller holds the log's lock on.
func (s *Space) LevelFacts(ctx context.Context, head eventlog.Head) error {
	epoch, err := s.log.Epoch()
	if err != nil {
		return err
	}
	return s.levelFacts(ctx, projection.Mark{Epoch: epoch, Commit: head.Commit, Tree: head.Tree})
}

func (s *Space) levelFacts(ctx context.Context, to projection.Mark) error {
	if err := s.facts.level(ctx, s.log, to, s.added); err != nil {
		return fmt.Errorf("read the log of space %s: %w", s.name, err)
	}
	return nil
}

// Appended says what this process has just appended after base, so that it
// need not be read back. head is the end of the last of the events.
func (s *Space) Appended(base, head eventlog.Head, events []eventlog.Stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = recent{base.Tree, head.Tree, events}
}

// added reads the events between two trees.
func (s *Space) added(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error {
	s.mu.Lock()
	r := s.recent
	s.mu.Unlock()
	if len(r.events) == 0 || r.from != from || r.to != to {
		return s.log.Added(ctx, from, to, fn)
	}
	for _, e := range r.events {
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// Level brings facts and index level with the log. Errors: ErrBehind if the
// facts are level and the index follows later; those of the log.
func (s *Space) Level(ctx context.Context) error {
	to, err := target(s.log)
	if err != nil {
		return err
	}
	if err := s.levelFacts(ctx, to); err != nil {
		return err
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	err = s.levelIndex(ctx)
	if errors.Is(err, search.ErrLocked) {
		return s.othersMark()
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}

// othersMark is nil if the process that owns the index has brought it to where
// our facts are.
func (s *Space) othersMark() error {
	m, err := s.keeper.access.mark(s.name)
	if err != nil || m.Tree != s.facts.at().Tree {
		return ErrBehind
	}
	s.noteIndexed(m.Tree)
	return nil
}

func (s *Space) noteIndexed(tree [20]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexed = tree
	if s.recent.to == tree {
		s.recent = recent{}
	}
}

// levelIndex brings the index to where the facts are.
func (s *Space) levelIndex(ctx context.Context) error {
	return s.keeper.access.write(func(x *search.Index) error {
		to := s.facts.at()
		mark, _, err := x.Mark(s.name)
		if err != nil {
			return err
		}
		w, err := s.wayOf(mark, to)
		switch {
		case err != nil:
			return err
		case w == rebuild || s.keeper.rebuilding():
			return s.showRecent(ctx, x, mark)
		case w == difference:
			err = s.index(ctx, x, mark, to)
		}
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			return errRebuild
		}
		if err != nil {
			return err
		}
		return s.settle(x, to)
	})
}

// wayOf is the way for the rows of the index: a few are put in one by one even
// if there were none, many are quicker in a rebuild even if some are there.
func (s *Space) wayOf(from search.Mark, to projection.Mark) (way, error) {
	missing := to.Events - from.Events
	if from.Tree == [20]byte{} && missing <= directly {
		return difference, nil
	}
	w, err := wayTo(s.log, projection.Mark(from), to)
	if w == difference && missing > directly && missing > from.Events {
		return rebuild, err
	}
	return w, err
}

// directly is how many events are put into the index that is in use, where
// they would make up most of it. More are quicker in a rebuild.
const directly = 2000

// index takes the difference into the index.
func (s *Space) index(ctx context.Context, x *search.Index, from search.Mark, to projection.Mark) error {
	b := &batcher{space: s, from: from, apply: func(b search.Batch) error { return x.Apply(ctx, b) }}
	if from.Tree != [20]byte{} {
		gone, err := removed(ctx, s.log, from.Tree, to.Tree)
		if err != nil {
			return err
		}
		b.batch.Delete = gone
	}
	if err := s.added(ctx, from.Tree, to.Tree, b.add); err != nil {
		return err
	}
	return b.finish(search.Mark(to))
}

// settle notes that the index is level and, once, whether its rows are as many
// as they should be.
func (s *Space) settle(x *search.Index, to projection.Mark) error {
	if !s.checked {
		have, err := x.Count(s.name)
		if err != nil {
			return err
		}
		want, now := s.expected()
		if now != to {
			return nil // the facts have moved on: look again next time
		}
		if have != want {
			return &mismatchError{space: s.name, have: have, want: want}
		}
		s.checked = true
	}
	s.noteIndexed(to.Tree)
	return nil
}

// expected is how many rows the space should have at the mark that is returned
// with it.
func (s *Space) expected() (int, projection.Mark) {
	n := 0
	mark := s.facts.read(func(set *projection.Set) {
		for id := range set.Searchable() {
			if !s.hidden(id) {
				n++
			}
		}
	})
	return n, mark
}

// showRecent makes what was just saved found at once in an index that cannot
// be brought level yet; its mark does not move.
func (s *Space) showRecent(ctx context.Context, x *search.Index, mark search.Mark) error {
	s.mu.Lock()
	r := s.recent
	s.recent = recent{}
	s.mu.Unlock()
	b := &batcher{space: s, from: mark, apply: func(b search.Batch) error { return x.Apply(ctx, b) }}
	for _, e := range r.events {
		if err := b.add(e); err != nil {
			return err
		}
	}
	if len(r.events) > 0 {
		if err := b.finish(mark); err != nil {
			return err
		}
	}
	return errRebuild
}

func (s *Space) hidden(id event.ID) bool {
	return s.keeper.opt.Hidden != nil && s.keeper.opt.Hidden(s.name, id)
}

// Drop takes rows out of the index, for events that must not be found. Events
// that Options.Hidden names do not come back.
func (s *Space) Drop(ctx context.Context, ids []event.ID) error {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	err := s.keeper.access.write(func(x *search.Index) error {
		mark, _, err := x.Mark(s.name)
		if err != nil {
			return err
		}
		return x.Apply(ctx, search.Batch{Space: s.name, Delete: ids, Mark: mark})
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}
