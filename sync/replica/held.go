package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// Held are events that the remote takes when their time has come and not
// before, because they lie too far ahead of its clock. They stay in the log,
// and every push tries again those that can go.
type Held struct {
	Events []event.ID    // oldest first
	Next   time.Duration // until the first of them may go
}

// A clocked remote takes no event that lies more than event.MaxAhead ahead of
// its clock.
type clocked interface {
	// Clock is the remote's clock, and how long ago it was read; false before
	// that.
	Clock() (now time.Time, age time.Duration, ok bool)
	// ReadClock reads it anew.
	ReadClock(context.Context) error
}

// How long to leave alone what was refused for its time although the clock
// that was read does not say so: for a moment, since it was not read to the
// millisecond, or longer if it is not known.
const (
	declinedPause = time.Second
	unknownPause  = 10 * time.Second
	clockLasts    = time.Minute // after which a clock that holds events is read anew
)

// A timekeeper knows which events have to wait. It is safe for concurrent use.
type timekeeper struct {
	remote clocked // nil for a remote that does not look at its clock

	mu       sync.Mutex
	declined map[event.ID]time.Time // when to offer them again
}

func newTimekeeper(remote Remote) *timekeeper {
	c, _ := remote.(clocked)
	return &timekeeper{remote: c, declined: map[event.ID]time.Time{}}
}

// held picks the events that have to wait, as far as is known.
func (k *timekeeper) held(ids []event.ID) (h Held) {
	if k.remote == nil {
		return h
	}
	early := k.early()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		wait := max(early(id), time.Until(k.declined[id]))
		if wait <= 0 {
			continue
		}
		if len(h.Events) == 0 || wait < h.Next {
			h.Next = wait
		}
		h.Events = append(h.Events, id)
	}
	return h
}

// early is by how much an event comes too early, by the remote's clock as far
// as it is known.
func (k *timekeeper) early() func(event.ID) time.Duration {
	now, _, known := k.remote.Clock()
	return func(id event.ID) time.Duration {
		if !known {
			return 0
		}
		return id.Time().Sub(now) - event.MaxAhead
	}
}

// heldNow is held, by a clock that was read not long ago.
func (k *timekeeper) heldNow(ctx context.Context, ids []event.ID) Held {
	h := k.held(ids)
	if len(h.Events) == 0 {
		return h
	}
	if _, age, known := k.remote.Clock(); known && age > clockLasts && k.remote.ReadClock(ctx) == nil {
		return k.held(ids)
	}
	return h
}

// decline notes events that the remote has refused for their time.
func (k *timekeeper) decline(ctx context.Context, ids []event.ID) {
	if k.remote == nil || len(ids) == 0 {
		return
	}
	pause := declinedPause
	if k.remote.ReadClock(ctx) != nil {
		pause = unknownPause
	}
	early := k.early()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		if early(id) <= 0 {
			k.declined[id] = time.Now().Add(pause)
		}
	}
}

// settle forgets what was declined and has been taken since.
func (k *timekeeper) settle(left Held) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(left.Events) == 0 {
		clear(k.declined)
	}
}

// before arranges the log so that its held events come last, and returns the
// commit in front of them. It returns the zero hash if the log has moved on
// meanwhile.
func (r *Replica) before(ctx context.Context, known plumbing.Hash, h Held) (plumbing.Hash, error) {
	last := make(map[event.ID]bool, len(h.Events))
	for _, id := range h.Events {
		last[id] = true
	}
	now, behind, err := r.replay(ctx, known, func(s eventlog.Stored) place {
		if last[s.ID] {
			return atTheEnd
		}
		return inOrder
	})
	if errors.Is(err, eventlog.ErrBusy) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	front, err := r.ancestor(now.Commit, behind)
	if err != nil || front == known {
		return plumbing.ZeroHash, err
	}
	return front, nil
}

// ancestor is the commit that is n commits before another, in a history without
// merges.
func (r *Replica) ancestor(of plumbing.Hash, n int) (plumbing.Hash, error) {
	for range n {
		c, err := history.ReadCommit(r.opt.Log.Store(), of)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		of = c.Parents[0]
	}
	return of, nil
}
