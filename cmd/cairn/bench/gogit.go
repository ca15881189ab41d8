package bench

import (
	"errors"
	"fmt"
	"io"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"

	"cairn/internal/event"
	"cairn/sync/gitstore"
)

// goGit is a repository as plain go-git sees it.
type goGit struct {
	dir     string
	repo    *gogit.Repository
	storage *filesystem.Storage
}

// openGoGit opens a repository with the options that are quickest for go-git.
func openGoGit(dir string) (*goGit, error) {
	options := filesystem.Options{KeepDescriptors: true}
	storage := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(4*cache.MiByte), options)
	repo, err := gogit.Open(storage, nil)
	if err != nil {
		return nil, fmt.Errorf("open %s with go-git: %w", dir, errors.Join(err, storage.Close()))
	}
	return &goGit{dir, repo, storage}, nil
}

func (g *goGit) close() error { return g.storage.Close() }

// Object makes g a reader of the packages that build trees.
func (g *goGit) Object(h plumbing.Hash) (o gitstore.Object, err error) {
	found, err := g.storage.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return o, err
	}
	r, err := found.Reader()
	if err != nil {
		return o, err
	}
	data, err := io.ReadAll(r)
	return gitstore.Object{Type: found.Type(), Hash: h, Data: data}, errors.Join(err, r.Close())
}

func (g *goGit) head() (*plumbing.Reference, error) { return g.storage.Reference(event.MainRef) }

// append stores e as go-git does: a loose file an object, then the branch. None
// of it is synced.
func (g *goGit) append(e event.Event) error {
	head, err := g.head()
	if err != nil {
		return err
	}
	objects, err := objectsOf(g, head.Hash(), e)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := g.store(o); err != nil {
			return err
		}
	}
	moved := plumbing.NewHashReference(event.MainRef, objects[len(objects)-1].Hash)
	return g.storage.CheckAndSetReference(moved, head)
}

func (g *goGit) store(o gitstore.Object) error {
	out := g.storage.NewEncodedObject()
	out.SetType(o.Type)
	w, err := out.Writer()
	if err != nil {
		return err
	}
	if _, err := w.Write(o.Data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, err = g.storage.SetEncodedObject(out)
	return err
}

// readAll reads every file of the head.
func (g *goGit) readAll() error {
	tree, err := g.treeOf(0)
	if err != nil {
		return err
	}
	return tree.Files().ForEach(func(f *object.File) error {
		_, err := f.Contents()
		return err
	})
}

// treeOf is the tree of the commit so many before the head.
func (g *goGit) treeOf(before int) (*object.Tree, error) {
	head, err := g.head()
	if err != nil {
		return nil, err
	}
	c, err := g.repo.CommitObject(head.Hash())
	for ; err == nil && before > 0; before-- {
		c, err = c.Parent(0)
	}
	if err != nil {
		return nil, err
	}
	return c.Tree()
}

// commits walks the whole history.
func (g *goGit) commits() (n int, err error) {
	head, err := g.head()
	if err != nil {
		return 0, err
	}
	log, err := g.repo.Log(&gogit.LogOptions{From: head.Hash()})
	if err != nil {
		return 0, err
	}
	return n, log.ForEach(func(*object.Commit) error { n++; return nil })
}
