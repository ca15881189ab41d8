package catchup

import (
	"context"
	"errors"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/sync/eventlog"
)

// Following says how the index of a space takes what is appended.
type Following int

const (
	// Unknown: nobody has called Level yet.
	Unknown Following = iota
	// Follows: the index was level when it was last looked at, and it is ours.
	// A Level brings it to whatever has been appended since.
	Follows
	// Lags: it is being rebuilt, it belongs to another process, or it cannot be
	// used now.
	Lags
)

// Following is how it is now.
func (s *Space) Following() Following {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.follows
}

func (s *Space) noteFollows(level bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follows = Lags
	if level {
		s.follows = Follows
	}
}

// How long the index waits for more appends, and how many events are enough.
// One step of it costs about as much for a hundred events as for one: several
// files that it and the log share the disk for, and segments to be joined. Whoever asks
// while the index waits brings it level first.
const (
	gather = time.Second
	enough = 128
)

// LevelSoon has Level called shortly in the background, once for all that is
// appended until then. Whoever needs the index before that calls Level.
func (s *Space) LevelSoon() {
	s.keeper.soon(&s.follow, gather, func() { s.keeper.report(s.Level(s.keeper.ctx)) })
	if s.Pending() >= enough {
		s.follow.hurry()
	}
}

// Pending is how many events the index lacks; 0 if it does not follow.
func (s *Space) Pending() int {
	facts := s.facts.at()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follows != Follows {
		return 0
	}
	return max(0, facts.Events-s.indexed.Events)
}

// finish is for the end: what was left to the background is done now.
func (s *Space) finish() {
	facts := s.facts.at()
	s.mu.Lock()
	due := s.follows == Follows && s.indexed.Tree != facts.Tree
	s.mu.Unlock()
	if !due {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), finishPatience)
	defer stop()
	// What fails here is done when the log is opened next.
	if err := s.Level(ctx); err != nil && !errors.Is(err, ErrBehind) {
		s.keeper.opt.Trouble(err)
	}
}

// finishPatience is how long the end may take.
const finishPatience = 5 * time.Second

// noteIndexed notes how far the index is.
func (s *Space) noteIndexed(m projection.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexed = m
	s.recent.keepFrom(m.Tree)
}

// Appended says what this process has just appended after base, so that it
// need not be read back: the facts have it then, and the index takes it from
// memory.
func (s *Space) Appended(base eventlog.Head, done []eventlog.Appended) error {
	last := done[len(done)-1]
	a := appended{from: base.Tree, to: last.Tree}
	facts := make([]projection.Fact, len(done))
	for i, d := range done {
		a.events = append(a.events, eventlog.Stored{ID: d.Event.ID, Bytes: d.Bytes, Event: d.Event})
		facts[i] = projection.FactOf(d.Event)
	}
	s.mu.Lock()
	s.recent.add(a)
	s.mu.Unlock()
	return s.facts.extend(base.Commit, last.Commit, last.Tree, facts)
}

// appendedSince says whether the way between two trees is known to be appends
// of this process.
func (s *Space) appendedSince(from, to plumbing.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.recent.between(from, to)
	return known
}

// added reads the events between two trees.
func (s *Space) added(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error {
	s.mu.Lock()
	events, known := s.recent.between(from, to)
	s.mu.Unlock()
	if !known {
		return s.log.Added(ctx, from, to, fn)
	}
	for _, e := range events {
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}
