package repository

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// landed is what became of the branch.
type landed struct {
	old, head plumbing.Hash
	merged    bool
}

// decide says where the chain goes with the landing. Everything that becomes
// part of the history must have been checked in its push or be there already.
func (b *batch) decide(l *landing) (merge.Result, *no, error) {
	err := b.graph.Add(l.cmd.New)
	if problem.IsA[*history.MalformedError](err) || errors.Is(err, plumbing.ErrObjectNotFound) {
		return merge.Result{}, noUnchecked, nil
	}
	if err != nil {
		return merge.Result{}, nil, fmt.Errorf("read the pushed history: %w", err)
	}
	if unchecked, err := reachesUnchecked(b.graph, l.q, b.head, l.cmd.New); err != nil || unchecked {
		return merge.Result{}, noUnchecked, err
	}
	if l.cmd.Ref == event.MainRef {
		forward, err := b.graph.Ancestor(b.tip, l.cmd.New)
		if err != nil {
			return merge.Result{}, nil, err
		}
		if l.cmd.Old != b.tip {
			return merge.Result{}, noStale, nil
		}
		if !forward {
			return merge.Result{}, noForce, nil
		}
	}
	result, err := merge.Heads(b, b.graph, b.tip, l.cmd.New)
	if conflict, ok := errors.AsType[*gittree.ConflictError](err); ok {
		refused := *noConflict
		refused.event, _ = commitform.IDAt(conflict.Path)
		return merge.Result{}, &refused, nil
	}
	return result, nil, err
}

var (
	noLonger    = &no{rule: "policy", reason: "members or policy changed", advice: "push again"}
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
