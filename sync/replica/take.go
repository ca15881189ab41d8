package replica

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/eventlog"
	"cairn/sync/merge"
)

// take joins the fetched history that ends at head with the log's.
func (r *Replica) take(ctx context.Context, head plumbing.Hash) (eventlog.Head, error) {
	foreign, err := r.foreign(head)
	if err != nil {
		return eventlog.Head{}, err
	}
	if foreign {
		return r.adopt(ctx, head, func(eventlog.Stored) place { return inOrder })
	}
	return r.opt.Log.Update(ctx, func(h eventlog.Head) (eventlog.Change, error) {
		if err := r.graph.Add(h.Commit, head); err != nil {
			return eventlog.Change{}, err
		}
		joined, err := merge.Heads(r.opt.Log.Store(), r.graph, h.Commit, head)
		return eventlog.Change{Tip: joined.Commit, Objects: joined.Objects}, err
	})
}

// foreign says whether the fetched history is that of another space id, which
// admit has allowed to be adopted.
func (r *Replica) foreign(head plumbing.Hash) (bool, error) {
	tree, err := r.graph.Tree(head)
	if err != nil {
		return false, err
	}
	space, err := eventlog.SpaceAt(r.opt.Log.Store(), tree)
	return space != r.opt.Log.Space(), err
}

// adopt gives the log the identity of the remote's history and appends its
// own events to that, with the same bytes and each in its place. Events saved
// meanwhile are taken along in another round.
func (r *Replica) adopt(ctx context.Context, onto plumbing.Hash, of func(eventlog.Stored) place) (eventlog.Head, error) {
	for {
		_, _, err := r.replay(ctx, onto, of)
		if errors.Is(err, eventlog.ErrBusy) {
			continue
		}
		if err != nil {
			return eventlog.Head{}, err
		}
		if err := r.opt.Log.Identify(); err != nil {
			return eventlog.Head{}, err
		}
		return r.opt.Log.Head()
	}
}

// A place is where an event goes in a replay.
type place int

const (
	inOrder place = iota
	atTheEnd
	leftOut
)

// replay puts the log's events that onto's history lacks on top of it, each in
// its place, and says where the log ends now and how many went to the end.
func (r *Replica) replay(ctx context.Context, onto plumbing.Hash, of func(eventlog.Stored) place) (now eventlog.Head, last int, err error) {
	log := r.opt.Log
	head, err := log.Head()
	if err != nil {
		return eventlog.Head{}, 0, err
	}
	if err := r.graph.Add(onto); err != nil {
		return eventlog.Head{}, 0, err
	}
	base, err := r.graph.Tree(onto)
	if err != nil {
		return eventlog.Head{}, 0, err
	}
	now, err = log.Replay(ctx, head.Commit, onto, func(put func(eventlog.Stored) error) error {
		var end []eventlog.Stored
		err := log.Added(ctx, base, head.Tree, func(s eventlog.Stored) error {
			at := of(s)
			switch bad := s.Corrupt(); {
			case at == leftOut:
				return nil
			case bad != nil:
				return bad // it cannot be appended again, and must not be lost
			case at == atTheEnd:
				end = append(end, s)
				return nil
			}
			return put(s)
		})
		last = len(end)
		for _, s := range end {
			if err == nil {
				err = put(s)
			}
		}
		return err
	})
	return now, last, err
}
