package repository

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/history"
)

// countStep is of how many commits the objects are counted at a time.
const countStep = 4096

// A count knows what the history of the branch holds. It goes on from where it
// stood, so that a long history is counted once.
type count struct {
	turn  chan struct{} // who uses the rest has it
	known gitstore.Counted
	kept  plumbing.Hash // the tip of what the store keeps
	begun bool          // what the store keeps was looked at
}

func newCount() *count { return &count{turn: make(chan struct{}, 1)} }

// level counts up to head, whose history g knows. Called with the turn.
func (c *count) level(ctx context.Context, s *gitstore.Store, g *history.Graph, head plumbing.Hash) (gitstore.Tally, error) {
	if !c.begun {
		kept, err := s.Counted()
		if err != nil {
			return gitstore.Tally{}, err
		}
		c.known, c.kept, c.begun = kept, kept.Tip, true
	}
	if follows, err := g.Ancestor(c.known.Tip, head); err != nil || !follows {
		c.known = gitstore.Counted{} // the history was rewritten
	}
	tally := c.known.Tally
	err := history.EachNew(ctx, s, g, []plumbing.Hash{head}, []plumbing.Hash{c.known.Tip}, countStep, func(ids []plumbing.Hash) error {
		for _, id := range ids {
			tally.Add(id)
		}
		return nil
	})
	if err != nil {
		return gitstore.Tally{}, err
	}
	c.known = gitstore.Counted{Tip: head, Tally: tally}
	return tally, nil
}

// whole is all packs of the repository, if they hold all that the wants lead
// to and nothing that the branch does not lead to: nothing left over, refused
// or purged, and nothing twice. Otherwise it is nil. The caller closes it.
func (r *Repository) whole(ctx context.Context, wants []plumbing.Hash) (*gitstore.Snapshot, error) {
	if err := take(ctx, r.count.turn); err != nil {
		return nil, err
	}
	defer func() { <-r.count.turn }()
	// What may take long is done before the moment that is looked at.
	if err := r.countNow(ctx); err != nil {
		return nil, err
	}
	snapshot, head, err := r.moment(ctx)
	if err != nil {
		return nil, err
	}
	same, err := r.matches(ctx, snapshot, head, wants)
	if err != nil || !same {
		return nil, errors.Join(err, snapshot.Close())
	}
	return snapshot, nil
}

// countNow counts up to the present head. Called with the turn.
func (r *Repository) countNow(ctx context.Context) error {
	head, err := r.log.Head()
	if err != nil {
		return err
	}
	g, err := r.log.History(head.Commit)
	if err != nil {
		return err
	}
	_, err = r.count.level(ctx, r.log.Store(), g, head.Commit)
	return err
}

// moment is the packs and the head between two pushes.
func (r *Repository) moment(ctx context.Context) (_ *gitstore.Snapshot, head plumbing.Hash, err error) {
	store := r.log.Store()
	lock, err := store.Lock(ctx)
	if err != nil {
		return nil, head, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	at, err := r.log.Head()
	if err != nil {
		return nil, head, err
	}
	s, err := store.Snapshot()
	return s, at.Commit, err
}

// matches says whether the packs hold just what head leads to, and that all that
// is wanted. Called with the turn.
func (r *Repository) matches(ctx context.Context, s *gitstore.Snapshot, head plumbing.Hash, wants []plumbing.Hash) (bool, error) {
	g, err := r.log.History(head)
	if err != nil {
		return false, err
	}
	for _, want := range wants {
		if inside, err := g.Ancestor(want, head); err != nil || !inside {
			return false, err
		}
	}
	tally, err := r.count.level(ctx, r.log.Store(), g, head)
	return err == nil && tally == s.Tally(), err
}

// sendWhole sends all packs as they are, if that is allowed and possible.
func (r *Repository) sendWhole(ctx context.Context, w io.Writer, wants []plumbing.Hash) (sent bool, err error) {
	snapshot, err := r.whole(ctx, wants)
	if err != nil && ctx.Err() == nil {
		// The objects can be looked for one by one, and damage be told then.
		r.set.log.Debug("the packs cannot be sent as they are", "space", r.Space().Name, "err", err)
		return false, nil
	}
	if err != nil || snapshot == nil {
		return false, err
	}
	return true, errors.Join(snapshot.Encode(ctx, w), snapshot.Close())
}

// keepCount counts up to the present head and keeps the result.
func (r *Repository) keepCount(ctx context.Context) error {
	if err := take(ctx, r.count.turn); err != nil {
		return err
	}
	defer func() { <-r.count.turn }()
	if err := r.countNow(ctx); err != nil || r.count.kept == r.count.known.Tip {
		return err
	}
	if err := r.log.Store().SetCounted(r.count.known); err != nil {
		return err
	}
	r.count.kept = r.count.known.Tip
	return nil
}
