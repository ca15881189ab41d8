package replica

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/purge"
)

// ErrLacking means that the remote has nothing of a history that is to be made
// whole. Nothing was stored. Try another remote, or a backup.
var ErrLacking = errors.New("the remote does not have that history")

// Refill fetches the remote's whole history, whatever is here, and stores of
// it what the histories of the given commits hold and the store lacks or
// cannot read. What the commits do not lead to stays outside: it has not been
// judged. A history that holds what was purged stays outside too: the remote
// has not followed that. No ref moves. Errors: those of Remote, ErrLacking,
// and *purge.RecordError if it is not known what was purged.
func Refill(ctx context.Context, store *gitstore.Store, remote Remote, commits []plumbing.Hash) (err error) {
	q, err := store.Quarantine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	_, err = remote.Fetch(ctx, Want{
		Met: true,
		Has: func(plumbing.Hash) (bool, error) { return false, nil },
		Receive: func(ctx context.Context, pack io.Reader) error {
			return q.Receive(ctx, pack, gitstore.Limits{})
		},
	})
	if err != nil {
		return err
	}
	// From here on, and not before, nobody purges: nothing waits for the remote.
	turn, err := store.LockPending(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	return restore(ctx, store, q, commits)
}

// restore publishes what q has of the histories of commits. The caller holds
// gitstore.Store.LockPending.
func restore(ctx context.Context, store *gitstore.Store, q *gitstore.Quarantine, commits []plumbing.Hash) error {
	gone, err := eventlog.PurgedFrom(store)
	if err != nil {
		return err
	}
	theirs, err := without(q, commits, gone)
	if err != nil {
		return err
	}
	if len(theirs) == 0 {
		return ErrLacking
	}
	graph := history.New(q)
	if err := graph.Add(theirs...); err != nil {
		return err
	}
	ids, err := history.NewObjects(ctx, q, graph, theirs, nil)
	if err != nil {
		return err
	}
	return q.PublishLacking(ids)
}

// without are the commits that arrived in q and whose trees hold nothing that
// is gone for good; a tree holds all that its history ever held.
func without(q *gitstore.Quarantine, commits []plumbing.Hash, gone *purge.Set) (clean []plumbing.Hash, err error) {
	for _, h := range commits {
		if !q.HasNew(h) {
			continue
		}
		held, err := gone.InCommit(q, h)
		if err != nil {
			return nil, err
		}
		if len(held) == 0 {
			clean = append(clean, h)
		}
	}
	return clean, nil
}
