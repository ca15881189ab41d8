package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/history"
)

// saveAfter is after how many commits the file of their order is written anew.
// That many are read in a moment when the log is opened.
const saveAfter = 2048

// An order is what a log knows of the order of its commits.
type order struct {
	mu    sync.Mutex // guards the rest
	graph *history.Graph
	epoch uint64 // to which the graph belongs
	tried int    // commits that the graph had when it was last to be saved
}

// History is the graph of the log's commits, with the tips and all that they
// lead to in it. It is opened at the first request, shared by all who ask, and
// opened anew after a purge. Errors: those of Epoch and of history.Graph.Add.
func (l *Log) History(tips ...plumbing.Hash) (*history.Graph, error) {
	epoch, err := l.Epoch()
	if err != nil {
		return nil, err
	}
	g := l.order.of(epoch, l.store)
	if err := g.Add(tips...); err != nil {
		return nil, fmt.Errorf("read the history of space %s: %w", l.Space().Name, err)
	}
	return g, nil
}

func (o *order) of(epoch uint64, s *gitstore.Store) *history.Graph {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.epoch != epoch {
		o.graph, o.epoch, o.tried = nil, epoch, 0
	}
	if o.graph == nil {
		o.graph = history.Open(s)
	}
	return o.graph
}

// due is the graph if it is time to save it, and the epoch.
func (o *order) due() (*history.Graph, uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.graph == nil || o.graph.Unsaved() < saveAfter || o.graph.Len() < o.tried+saveAfter {
		return nil, 0
	}
	return o.graph, o.epoch
}

// Untidy says whether Tidy would write down the order of the commits.
func (l *Log) Untidy() bool {
	g, _ := l.order.due()
	return g != nil
}

// Tidy settles what was appended (see Settle), and joins small packs if there
// are many. If many commits have come since it
// was last done, it also writes their order into git's commit-graph file, so
// that whoever opens the log next need not read them, stock git included. It
// may take long and be canceled at any time; the log's lock is taken only at
// the end of each step. Errors: those of Settle and gitstore.Store.Compact, the
// disk's, history.ErrUnfit; they leave everything as it was.
func (l *Log) Tidy(ctx context.Context) (gitstore.CompactStats, error) {
	return l.tidy(ctx, l.store.Compact)
}

// TidyAtRest is Tidy for a time when nothing else is to do: fewer packs are
// worth being joined then.
func (l *Log) TidyAtRest(ctx context.Context) (gitstore.CompactStats, error) {
	return l.tidy(ctx, l.store.CompactAtRest)
}

func (l *Log) tidy(ctx context.Context, compact func(context.Context) (gitstore.CompactStats, error)) (gitstore.CompactStats, error) {
	if err := l.Settle(ctx); err != nil {
		return gitstore.CompactStats{}, err
	}
	stats, err := compact(ctx)
	if ctx.Err() == nil {
		err = errors.Join(err, l.saveOrder(ctx))
	}
	return stats, err
}

func (l *Log) saveOrder(ctx context.Context) error {
	g, epoch := l.order.due()
	if g == nil {
		return nil
	}
	err := l.writeOrder(ctx, g, epoch)
	l.order.saved(g, err == nil)
	if err != nil {
		return fmt.Errorf("save the order of the commits: %w", err)
	}
	return nil
}

func (l *Log) writeOrder(ctx context.Context, g *history.Graph, epoch uint64) error {
	head, err := l.Head()
	if err != nil {
		return err
	}
	if err := g.Add(head.Commit); err != nil {
		return err
	}
	return l.store.SetCommitGraph(ctx,
		func(w io.Writer) error { return g.Encode(w, head.Commit) },
		func() (bool, error) { now, err := l.Epoch(); return now == epoch, err })
}

// saved lets the next request read the graph from the file, where it takes less
// room, if there is one now.
func (o *order) saved(g *history.Graph, written bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.graph != g {
		return
	}
	o.tried = g.Len()
	if written {
		o.graph = nil
	}
}
