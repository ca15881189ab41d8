package mend

import (
	"context"
	"errors"
	"path"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// A loss is an object that something leads to and that cannot be read.
type loss struct {
	hash plumbing.Hash
	what string // where it belongs
}

func (l loss) String() string { return l.what + " (" + l.hash.String()[:10] + ")" }

// A walk goes through everything a commit leads to, past what is missing.
type walk struct {
	store *gitstore.Store
	all   bool // not only what the last state is made of
	lost  []loss
	seen  map[plumbing.Hash]bool
}

// from walks what a commit leads to: all of it, or else only the trees of its
// last state.
func (w *walk) from(ctx context.Context, head plumbing.Hash) error {
	w.seen = map[plumbing.Hash]bool{}
	for todo := []plumbing.Hash{head}; len(todo) > 0; {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if w.seen[h] {
			continue
		}
		o, err := w.read(ctx, h, "a commit")
		if err != nil {
			return err
		}
		c, bad := history.ParseCommit(o.Data)
		if o.Data == nil || bad != nil {
			continue
		}
		if err := w.tree(ctx, c.Tree, ""); err != nil {
			return err
		}
		if w.all {
			todo = append(todo, c.Parents...)
		}
	}
	return nil
}

func (w *walk) tree(ctx context.Context, h plumbing.Hash, at string) error {
	if w.seen[h] {
		return nil
	}
	o, err := w.read(ctx, h, "the folder "+path.Join("/", at))
	if err != nil || o.Data == nil {
		return err
	}
	entries, bad := gittree.ParseLenient(o.Data)
	if bad != nil {
		return nil
	}
	for _, e := range entries {
		name := path.Join(at, e.Name)
		switch {
		case e.IsDir():
			err = w.tree(ctx, e.Hash, name)
		case w.all && !w.seen[e.Hash]:
			_, err = w.read(ctx, e.Hash, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads an object; without contents if it is lost. The error is one of
// the disk or of ctx.
func (w *walk) read(ctx context.Context, h plumbing.Hash, what string) (gitstore.Object, error) {
	w.seen[h] = true
	if err := ctx.Err(); err != nil {
		return gitstore.Object{}, err
	}
	o, err := w.store.Object(h)
	if err == nil {
		return o, nil
	}
	if !isObjectDamage(err) {
		return gitstore.Object{}, err
	}
	w.lost = append(w.lost, loss{h, what})
	return gitstore.Object{}, nil
}

func isObjectDamage(err error) bool {
	_, corrupt := errors.AsType[*gitstore.CorruptError](err)
	return corrupt || errors.Is(err, plumbing.ErrObjectNotFound)
}

func isRefDamage(err error) bool {
	_, garbled := errors.AsType[*gitstore.GarbledRefError](err)
	return garbled || errors.Is(err, plumbing.ErrReferenceNotFound)
}
