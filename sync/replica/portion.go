package replica

import (
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// A history that is longer than this goes over in several pushes, oldest
// first: so what each side has to keep in hand, and to do again if the
// connection breaks, does not grow with the history. A remote may want less.
const (
	portionCommits = 4096
	portionBytes   = 128 << 20
)

// A Portion is the next part of an offered history, as far as one push goes.
type Portion struct {
	Tip     plumbing.Hash
	Last    bool // the tip is the offer's
	Commits int
	Pack    func(io.Writer) error // writes the objects; once
}

// A Taker is who a portion is for.
type Taker struct {
	Haves []plumbing.Hash
	// Onto is the commit that the portion must follow; zero for a remote that
	// joins by itself. Where branches were joined that may take more commits
	// than Most.
	Onto plumbing.Hash
	Most int // commits, if that is possible
}

// portion picks the commits of the history of tip that come next.
func (r *Replica) portion(ctx context.Context, tip plumbing.Hash, to Taker) (Portion, error) {
	if err := r.graph.Add(tip); err != nil {
		return Portion{}, err
	}
	commits, err := r.graph.Between([]plumbing.Hash{tip}, to.Haves)
	if err != nil {
		return Portion{}, err
	}
	ends := commits
	if !to.Onto.IsZero() {
		if ends, err = r.graph.Following(to.Onto, commits); err != nil {
			return Portion{}, err
		}
	}
	for most := to.Most; ; most /= 2 {
		end := tip
		if len(commits) > 0 {
			end = endOf(commits, ends, most)
		}
		p, err := newPortion(ctx, r.opt.Log, r.graph, end, to.Haves)
		if err != nil {
			return Portion{}, err
		}
		p.Last = end == tip
		if most <= 1 || !errors.Is(p.Pack(&room{portionBytes}), errNoRoom) {
			return p, nil
		}
	}
}

// endOf is the last of ends that the first most of commits hold, or the first
// of all if they hold none. Both are in the same order.
func endOf(commits, ends []plumbing.Hash, most int) plumbing.Hash {
	held := 0
	for _, c := range commits[:min(most, len(commits))] {
		if held < len(ends) && ends[held] == c {
			held++
		}
	}
	return ends[max(held-1, 0)]
}

func newPortion(ctx context.Context, log *eventlog.Log, g *history.Graph, tip plumbing.Hash, haves []plumbing.Hash) (Portion, error) {
	ids, err := history.NewObjects(ctx, log.Store(), g, []plumbing.Hash{tip}, haves)
	if err != nil {
		return Portion{}, err
	}
	commits, err := g.Between([]plumbing.Hash{tip}, haves)
	return Portion{
		Tip: tip, Commits: len(commits),
		Pack: func(w io.Writer) error { return log.Store().EncodePack(w, ids) },
	}, err
}

// room takes a number of bytes and no more.
type room struct{ left int64 }

var errNoRoom = errors.New("this is more than goes into one push")

func (r *room) Write(b []byte) (int, error) {
	if r.left -= int64(len(b)); r.left < 0 {
		return 0, errNoRoom
	}
	return len(b), nil
}

// A tooMuchError is a push that the remote finds too big.
type tooMuchError struct{ message string }

func (e *tooMuchError) Error() string { return "the remote finds the push too big: " + e.message }

// inPortions makes an offer portion by portion. push is called with the most
// commits to offer, and returns what it offered. A remote that finds it too
// much is offered half, as long as that makes it smaller.
func inPortions(push func(most int) (Portion, error)) error {
	most, refused := portionCommits, 0
	for {
		p, err := push(most)
		tooMuch, isTooMuch := errors.AsType[*tooMuchError](err)
		switch {
		case isTooMuch && p.Commits > 1 && p.Commits != refused:
			most, refused = p.Commits/2, p.Commits
		case isTooMuch:
			return &RefusedError{Message: tooMuch.message}
		case err != nil || p.Last:
			return err
		}
	}
}
