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
		return r.adopt(ctx, head)
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
// own events to that, with the same bytes. Events saved meanwhile are taken
// along in another round.
func (r *Replica) adopt(ctx context.Context, onto plumbing.Hash) (eventlog.Head, error) {
	for {
		head, err := r.replay(ctx, onto, nil)
		if !errors.Is(err, eventlog.ErrBusy) {
			if err != nil {
				return eventlog.Head{}, err
			}
			return head, r.opt.Log.Identify()
		}
	}
}

// replay puts the log's events that onto's history lacks on top of it, all
// but those that leave names.
func (r *Replica) replay(ctx context.Context, onto plumbing.Hash, leave func(eventlog.Stored) bool) (eventlog.Head, error) {
	log := r.opt.Log
	head, err := log.Head()
	if err != nil {
		return eventlog.Head{}, err
	}
	if err := r.graph.Add(onto); err != nil {
		return eventlog.Head{}, err
	}
	base, err := r.graph.Tree(onto)
	if err != nil {
		return eventlog.Head{}, err
	}
	var own []eventlog.Stored
	err = log.Added(ctx, base, head.Tree, func(s eventlog.Stored) error {
		if leave == nil || !leave(s) {
			own = append(own, s)
		}
		return nil
	})
	if err != nil {
		return eventlog.Head{}, err
	}
	return log.Replay(ctx, head.Commit, onto, own)
}
