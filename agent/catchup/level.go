package catchup

import (
	"context"
	"errors"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/search"
)

// Level brings facts and index level with the log. Errors: ErrBehind if the
// facts are level and the index follows later; those of the log.
func (s *Space) Level(ctx context.Context) error {
	if err := s.levelFacts(ctx); err != nil {
		return err
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	err := s.levelIndex(ctx)
	if ctx.Err() == nil {
		s.noteFollows(err == nil)
	}
	if errors.Is(err, search.ErrLocked) {
		return s.othersMark()
	}
	if err == nil {
		s.placeSoon()
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
	s.noteIndexed(projection.Mark(m))
	return nil
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
	appended := s.appendedSince(from.Tree, to.Tree) // takes nothing away, so that no trees need be compared
	if !appended && from.Tree != [20]byte{} {
		gone, err := removed(ctx, s.log, from.Tree, to.Tree)
		if err != nil {
			return err
		}
		b.batch.Delete = gone
	}
	if err := s.added(ctx, from.Tree, to.Tree, b.add); err != nil {
		return err
	}
	if err := b.finish(search.Mark(to)); err != nil {
		return err
	}
	if b.deleted {
		s.keeper.sweepSoon()
	}
	return nil
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
		removed, err := x.HasRemoved()
		if err != nil {
			return err
		}
		if removed { // the process that took them out has ended too soon
			s.keeper.sweepSoon()
		}
		s.checked = true
	}
	s.noteIndexed(to)
	return nil
}

// expected is how many rows the space should have at the mark that is returned
// with it.
func (s *Space) expected() (int, projection.Mark) {
	n := 0
	mark := s.facts.read(func(set *projection.Set) {
		for id := range set.Searchable(s.finds) {
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
	events := s.recent.all()
	s.recent = recent{}
	s.mu.Unlock()
	b := &batcher{space: s, from: mark, apply: func(b search.Batch) error { return x.Apply(ctx, b) }}
	for _, e := range events {
		if err := b.add(e); err != nil {
			return err
		}
	}
	if len(events) > 0 {
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
	if err == nil {
		s.keeper.sweepSoon()
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}

// Restore puts the rows of events into the index again that Drop took out, as
// far as Options.Hidden does not name them any more.
func (s *Space) Restore(ctx context.Context, events []event.Event) error {
	step := &embedStep{space: s, ctx: ctx, by: s.keeper.embedder(), made: func(int) {}}
	var err error
	for _, e := range events {
		if err == nil && s.finds(e.Kind) {
			s.unplace(e) // if rows get their vectors later
			err = step.add(e)
		}
	}
	if err == nil {
		err = step.flush()
	}
	s.placeSoon()
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.keeper.behind(err)
}

// settleTime is how long to wait for more deletions before the index is
// rewritten.
const settleTime = time.Second

// sweepSoon has the index rewritten in the background after something was
// deleted that must leave the disk: a deleted row stays in its file until then.
// If this process ends before, the next one sees it when it first looks (settle).
func (k *Keeper) sweepSoon() {
	k.soon(&k.sweep, settleTime, func() { k.report(k.access.compact(k.ctx)) })
}
