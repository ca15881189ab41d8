package repository

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/purge"
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
// to and nothing that no ref leads to: nothing left over, refused or purged,
// and nothing twice. Otherwise it is nil. The caller closes it.
func (r *Repository) whole(ctx context.Context, wants []plumbing.Hash) (*gitstore.Snapshot, error) {
	if err := take(ctx, r.count.turn); err != nil {
		return nil, err
	}
	defer func() { <-r.count.turn }()
	// What may take long is done before the moment that is looked at.
	if err := r.countNow(ctx); err != nil {
		return nil, err
	}
	m, err := r.moment(ctx)
	if err != nil {
		return nil, err
	}
	same, err := r.matches(ctx, m, wants)
	if err != nil || !same {
		return nil, errors.Join(err, m.packs.Close())
	}
	return m.packs, nil
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

// A moment is what there is between two pushes.
type moment struct {
	packs   *gitstore.Snapshot
	head    plumbing.Hash
	records []purge.Record
}

// moment looks at all of it. The caller closes the packs.
func (r *Repository) moment(ctx context.Context) (m moment, err error) {
	store := r.log.Store()
	lock, err := store.Lock(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	at, err := r.log.Head()
	if err != nil {
		return m, err
	}
	if m.records, err = r.log.Purges(); err != nil {
		return m, err
	}
	m.head = at.Commit
	m.packs, err = store.Snapshot()
	return m, err
}

// matches says whether the packs hold just what the branch and the record of
// purges lead to, and that all that is wanted. The record goes along with a
// clone that did not ask for it: it is shown to everybody. A push that came since
// the branch was shown does not: whoever did not ask for it would refuse all.
// Called with the turn.
func (r *Repository) matches(ctx context.Context, m moment, wants []plumbing.Hash) (bool, error) {
	g, err := r.log.History(m.head)
	if err != nil || !slices.Contains(wants, m.head) {
		return false, err
	}
	for _, want := range wants {
		if slices.ContainsFunc(m.records, func(rec purge.Record) bool { return rec.Commit == want }) {
			continue
		}
		if inside, err := g.Ancestor(want, m.head); err != nil || !inside {
			return false, err
		}
	}
	tally, err := r.count.level(ctx, r.log.Store(), g, m.head)
	for _, rec := range m.records {
		for _, id := range []plumbing.Hash{rec.Commit, rec.Tree, rec.Blob} {
			tally.Add(id)
		}
	}
	return err == nil && tally == m.packs.Tally(), err
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
	r.set.log.Debug("the packs are sent as they are", "space", r.Space().Name, "objects", snapshot.Tally().Objects)
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
