package catchup

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// A Log is what catching up needs of a space's log. *eventlog.Log is one.
type Log interface {
	Space() commitform.Space
	Head() (eventlog.Head, error)
	Epoch() (uint64, error)
	HasCommit(plumbing.Hash) (bool, error)
	Added(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error
}

// A way is how to get from a mark to a head.
type way int

const (
	nothing way = iota
	difference
	rebuild
)

// wayTo decides by what the log has now. A mark without a tree promises
// nothing.
func wayTo(log Log, from projection.Mark, to projection.Mark) (way, error) {
	switch {
	case from.Tree == [20]byte{} || from.Epoch != to.Epoch:
		return rebuild, nil
	case from.Tree == to.Tree:
		return nothing, nil
	}
	there, err := log.HasCommit(from.Commit)
	if err != nil {
		return nothing, err
	}
	if !there {
		return rebuild, nil
	}
	return difference, nil
}

// target is the mark of the log as it is now. The epoch is read before the
// head, so that a rewrite in between shows at the next look.
func target(log Log) (projection.Mark, error) {
	epoch, err := log.Epoch()
	if err != nil {
		return projection.Mark{}, err
	}
	head, err := log.Head()
	if err != nil {
		return projection.Mark{}, err
	}
	return projection.Mark{Epoch: epoch, Commit: head.Commit, Tree: head.Tree}, nil
}

// removed lists the events that the tree from has and the tree to has not. A
// log only grows, except that an event the hub refused leaves it again.
func removed(ctx context.Context, log Log, from, to plumbing.Hash) ([]event.ID, error) {
	var ids []event.ID
	err := log.Added(ctx, to, from, func(s eventlog.Stored) error {
		if s.ID != "" {
			ids = append(ids, s.ID)
		}
		return nil
	})
	return ids, err
}
