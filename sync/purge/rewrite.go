package purge

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// A Store is what a Rewriter needs of a repository. *gitstore.Store is one.
type Store interface {
	gitstore.Reader
	WritePack([]gitstore.Object) (string, error)
}

// flushBytes is how much of the new history is held before it is stored.
const flushBytes = 8 << 20

// A Rewriter makes a history again without some events. It is not safe for
// concurrent use.
type Rewriter struct {
	store Store
	over  *gittree.Overlay // knows what was made since the last flush
	made  []gitstore.Object
	size  int

	gone  map[event.ID]bool
	old   *history.Graph
	fresh *history.Graph // the old commits that stay, and the new ones
	done  plumbing.Hash  // head up to which all is made
	moved map[plumbing.Hash]plumbing.Hash
}

// NewRewriter takes the given events out of the histories that it is shown.
func NewRewriter(s Store, gone []event.ID) *Rewriter {
	w := &Rewriter{store: s, over: gittree.NewOverlay(s), gone: map[event.ID]bool{}, moved: map[plumbing.Hash]plumbing.Hash{}}
	for _, id := range gone {
		w.gone[id] = true
	}
	w.old = history.New(s)
	return w
}

// Object is an object of the old history or the new one.
func (w *Rewriter) Object(h plumbing.Hash) (gitstore.Object, error) { return w.over.Object(h) }

// Has says whether Object would return one.
func (w *Rewriter) Has(h plumbing.Hash) (bool, error) {
	_, err := w.over.Object(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Head is the head of the history that ends at head, made again. Its objects
// are stored and no ref leads to them. Shown a later head, it makes only what is
// new since, which is how a long history is made again while it still grows.
// The tree of the result has been compared: it is that of head without the
// events.
func (w *Rewriter) Head(ctx context.Context, head plumbing.Hash) (plumbing.Hash, error) {
	if err := w.rewrite(ctx, head); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("make the history again: %w", err)
	}
	if err := w.flush(); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("store the history that was made again: %w", err)
	}
	to := w.at(head)
	return to, w.compare(head, to)
}

func (w *Rewriter) rewrite(ctx context.Context, head plumbing.Hash) error {
	if err := w.old.Add(head); err != nil {
		return err
	}
	if w.fresh == nil {
		w.fresh = w.old.Fork(w)
	}
	commits, err := w.old.Between([]plumbing.Hash{head}, []plumbing.Hash{w.done})
	if err != nil {
		return err
	}
	for _, c := range commits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.commit(c); err != nil {
			return fmt.Errorf("commit %s: %w", c, err)
		}
		if w.size >= flushBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	w.done = head
	return nil
}

// at is where a commit of the old history is in the new one.
func (w *Rewriter) at(h plumbing.Hash) plumbing.Hash {
	if to, ok := w.moved[h]; ok {
		return to
	}
	return h
}

// commit makes one commit again, whose parents have been.
func (w *Rewriter) commit(h plumbing.Hash) error {
	c, err := history.ReadCommit(w, h)
	if err != nil {
		return err
	}
	id, isEvent := commitform.EventOf(c.Raw)
	same := true
	for _, p := range c.Parents {
		same = same && w.at(p) == p
	}
	switch {
	case isEvent && len(c.Parents) == 1 && w.gone[id]:
		w.moved[h] = w.at(c.Parents[0])
		return nil
	case same:
		return nil
	case len(c.Parents) == 2:
		w.moved[h], err = w.join(w.at(c.Parents[0]), w.at(c.Parents[1]))
	case isEvent && len(c.Parents) == 1:
		w.moved[h], err = w.event(c, id)
	default:
		err = &history.MalformedError{Reason: "it has none of the forms that a space's commits have"}
	}
	return err
}

// event puts the event of an old commit behind its parent's new place.
func (w *Rewriter) event(c history.Commit, id event.ID) (plumbing.Hash, error) {
	path := commitform.Path(id)
	file, err := gittree.Lookup(w, c.Tree, path)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	to := w.at(c.Parents[0])
	parent, err := history.ReadCommit(w, to)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tree, made, err := gittree.Insert(w, parent.Tree, path, file.Hash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Moved(c.Raw, commitform.Hash(tree), commitform.Hash(to)))
	w.keep(append(made, commit)...)
	return commit.Hash, nil
}

// join is the merge of two histories that were made again. One of them may have
// had nothing but what is gone.
func (w *Rewriter) join(a, b plumbing.Hash) (plumbing.Hash, error) {
	if err := w.fresh.Add(a, b); err != nil {
		return plumbing.ZeroHash, err
	}
	joined, err := merge.Heads(w, w.fresh, a, b)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	w.keep(joined.Objects...)
	return joined.Commit, nil
}

func (w *Rewriter) keep(objects ...gitstore.Object) {
	w.over.Add(objects...)
	w.made = append(w.made, objects...)
	for _, o := range objects {
		w.size += len(o.Data)
	}
}

func (w *Rewriter) flush() error {
	if _, err := w.store.WritePack(w.made); err != nil {
		return err
	}
	w.made, w.size, w.over = nil, 0, gittree.NewOverlay(w.store)
	return nil
}

// compare makes sure that the trees of two heads differ in the events that are
// gone and in nothing else.
func (w *Rewriter) compare(from, to plumbing.Hash) error {
	before, err := w.old.Tree(from)
	if err != nil {
		return err
	}
	after, err := history.ReadCommit(w, to)
	if err != nil {
		return err
	}
	return gittree.Diff(w, before, after.Tree, func(c gittree.Change) error {
		id, ok := commitform.IDAt(c.Path)
		if !ok || !w.gone[id] || !c.New.IsZero() {
			return fmt.Errorf("the history that was made again differs in %s: nothing was changed", c.Path)
		}
		return nil
	})
}
