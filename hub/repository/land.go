package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/gitwire"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// landed is what became of the branch.
type landed struct {
	old, head plumbing.Hash
	merged    bool
}

// land makes a checked push part of the history, while nobody else does: the
// branch is moved forward to it, or joined with it inside the quarantine. The
// objects become visible before the branch needs them, and watchers hear of it
// last.
func (r *Repository) land(ctx context.Context, q *gitstore.Quarantine, cmd gitwire.Command) (done landed, refused *no, err error) {
	store := r.log.Store()
	lock, err := store.Lock(ctx)
	if err != nil {
		return landed{}, nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	// Waiting for the lock may have taken longer than the caller is welcome.
	if err := ctx.Err(); err != nil {
		return landed{}, nil, context.Cause(ctx)
	}
	head, err := r.log.Head()
	if err != nil {
		return landed{}, nil, err
	}
	joined, refused, err := r.join(q, head.Commit, cmd)
	if err != nil || refused != nil {
		return landed{}, refused, err
	}
	done = landed{old: head.Commit, head: joined.Commit, merged: !joined.FastForward}
	if joined.Commit == head.Commit {
		return done, nil, nil
	}
	if err := errors.Join(q.Add(joined.Objects...), q.Publish()); err != nil {
		return landed{}, nil, err
	}
	err = store.UpdateRef(head.Ref, head.Commit, joined.Commit)
	if errors.Is(err, gitstore.ErrRefChanged) {
		return landed{}, noBusy, nil
	}
	if err != nil {
		return landed{}, nil, err
	}
	r.set.feed.tell(r, head.Ref, joined.Commit)
	r.tidy.after(r)
	return done, nil, nil
}

// join decides where the branch goes. Everything that becomes part of its
// history must have been checked in this push or be there already.
func (r *Repository) join(q *gitstore.Quarantine, head plumbing.Hash, cmd gitwire.Command) (merge.Result, *no, error) {
	known, err := r.history(map[string]plumbing.Hash{event.MainRef: head})
	if err != nil {
		return merge.Result{}, nil, err
	}
	g := known.Fork(q)
	err = g.Add(cmd.New)
	if is[*history.MalformedError](err) || errors.Is(err, plumbing.ErrObjectNotFound) {
		return merge.Result{}, noUnchecked, nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("read the pushed history: %w", err)
	}
	if unchecked, err := reachesUnchecked(g, q, head, cmd.New); err != nil || unchecked {
		return merge.Result{}, noUnchecked, err
	}
	if cmd.Ref == event.MainRef {
		forward, err := g.Ancestor(head, cmd.New)
		if err != nil {
			return merge.Result{}, nil, err
		}
		if cmd.Old != head {
			return merge.Result{}, noStale, nil
		}
		if !forward {
			return merge.Result{}, noForce, nil
		}
	}
	result, err := merge.Heads(q, g, head, cmd.New)
	if conflict, ok := errors.AsType[*gittree.ConflictError](err); ok {
		refused := *noConflict
		refused.event, _ = commitform.IDAt(conflict.Path)
		return merge.Result{}, &refused, nil
	}
	return result, nil, err
}

var (
	noUnchecked = &no{rule: "missing-object", reason: "part of the history was not sent", advice: "part of this history is unknown here: fetch from the hub, then push again"}
	noConflict  = &no{rule: "conflicting-path", reason: "an event differs from the hub's", advice: "an event of yours has the id of another one at the hub: run cairn sync, which keeps both sides' notes"}
)

// reachesUnchecked says whether the history of tip holds commits that are
// neither in the history of head nor came with this push: left over on disk,
// and never looked at by the rules of today.
func reachesUnchecked(g *history.Graph, q *gitstore.Quarantine, head, tip plumbing.Hash) (bool, error) {
	added, err := g.Between([]plumbing.Hash{tip}, []plumbing.Hash{head})
	if err != nil {
		return false, err
	}
	for _, h := range added {
		if !q.HasNew(h) {
			return true, nil
		}
	}
	return false, nil
}
