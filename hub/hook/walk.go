package hook

import (
	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/history"
)

// A walk goes from the pushed commit to the history of the branch.
type walk struct {
	*judge
	seen    map[plumbing.Hash]bool
	forward bool                   // the branch's head was met, or there is none
	gained  []plumbing.Hash        // commits that the branch has not and that did not arrive
	main    map[plumbing.Hash]bool // the history of the branch; nil until somebody asks
}

// followed is how many parents of a commit are looked at. None of any form has
// more than two; one that has hundreds of thousands is refused for it.
const followed = 4

func (w *walk) from(tip plumbing.Hash) error {
	for todo := []plumbing.Hash{tip}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w.seen[h] {
			continue
		}
		w.seen[h] = true
		if err := w.ctx.Err(); err != nil {
			return err
		}
		next, err := w.step(h)
		if err != nil {
			return err
		}
		todo = append(todo, next...)
	}
	return nil
}

// step returns where the walk goes on from h: nowhere, if that is in the branch.
func (w *walk) step(h plumbing.Hash) ([]plumbing.Hash, error) {
	if h == w.old {
		w.forward = true
		return nil, nil
	}
	if _, arrived := w.in.Number(h); !arrived {
		inside, err := w.inside(h)
		if err != nil || inside {
			return nil, err
		}
		stored, err := w.in.Has(h)
		if err != nil || !stored { // a commit that is missing is found when it is looked for
			return nil, err
		}
		w.gained = append(w.gained, h)
	}
	o, err := w.in.Object(h)
	if err != nil {
		return nil, err
	}
	c, err := history.ParseCommit(o.Data)
	if o.Type != plumbing.CommitObject || err != nil {
		return nil, nil // it is found malformed when it is looked at
	}
	return c.Parents[:min(len(c.Parents), followed)], nil
}

// inside says whether a commit is in the history of the branch. Mostly nobody
// asks: what arrived goes on from the branch's head.
func (w *walk) inside(h plumbing.Hash) (bool, error) {
	if w.main == nil {
		w.main = map[plumbing.Hash]bool{}
		if w.old.IsZero() {
			return false, nil
		}
		g := history.Open(w.in.Stored())
		if err := g.Add(w.old); err != nil {
			return false, err
		}
		all, err := g.Between([]plumbing.Hash{w.old}, nil)
		if err != nil {
			return false, err
		}
		for _, c := range all {
			w.main[c] = true
		}
	}
	return w.main[h], nil
}
