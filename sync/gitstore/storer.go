package gitstore

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Storer returns the store behind the interfaces of go-git, so that git.Open(s.Storer(), nil) works and whatever go-git
// does to the repository is done safely: objects by WritePack, packs by way of a Quarantine, refs by UpdateRef, DeleteRef
// and SetHead, the config in one piece. It reads objects and refs afresh like the Store.
//
// What does not fit is refused: detaching HEAD, deleting its branch, making the repository shallow or foreign, alternates,
// packing refs. A work tree's index and submodules are kept in memory, for this one Storer. Objects and refs are safe for
// concurrent use, the rest is not. It needs no closing, but the Store must stay open.
func (s *Store) Storer() storage.Storer {
	return &goGit{s: s, IndexStorage: new(memory.IndexStorage), modules: memory.ModuleStorage{}}
}

type goGit struct {
	*memory.IndexStorage
	s       *Store
	modules memory.ModuleStorage
}

var _ storer.PackfileWriter = (*goGit)(nil)

func (g *goGit) Module(name string) (storage.Storer, error) { return g.modules.Module(name) }

func (g *goGit) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

func (g *goGit) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	if o.Type().IsDelta() || !o.Type().Valid() {
		return plumbing.ZeroHash, plumbing.ErrInvalidType
	}
	r, err := o.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	object := NewObject(o.Type(), data)
	_, err = g.s.WritePack([]Object{object})
	return object.Hash, err
}

func (g *goGit) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o, err := g.s.Object(h)
	if err != nil {
		return nil, exactly(err, plumbing.ErrObjectNotFound)
	}
	if t != plumbing.AnyObject && t != o.Type {
		return nil, plumbing.ErrObjectNotFound
	}
	return encoded(o)
}

// encoded copies o into the form that go-git passes around and may write to.
func encoded(o Object) (plumbing.EncodedObject, error) {
	m := &plumbing.MemoryObject{}
	m.SetType(o.Type)
	_, err := m.Write(o.Data)
	return m, err
}

// exactly returns sentinel itself if err is one: go-git compares with ==.
func exactly(err, sentinel error) error {
	if errors.Is(err, sentinel) {
		return sentinel
	}
	return err
}

func (g *goGit) HasEncodedObject(h plumbing.Hash) error {
	found, err := g.s.Has(h)
	if err == nil && !found {
		return plumbing.ErrObjectNotFound
	}
	return err
}

func (g *goGit) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	_, n, err := g.s.Size(h)
	return n, exactly(err, plumbing.ErrObjectNotFound)
}

func (g *goGit) AddAlternate(string) error {
	return fmt.Errorf("borrow objects from another repository: %w", errors.ErrUnsupported)
}

func (g *goGit) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	ids, err := g.s.IDs()
	if err != nil {
		return nil, err
	}
	return &objectIter{g: g, t: t, left: ids}, nil
}

// An objectIter goes through the objects of one type, loading each when it is its turn.
type objectIter struct {
	g    *goGit
	t    plumbing.ObjectType
	left []plumbing.Hash
}

func (it *objectIter) Next() (plumbing.EncodedObject, error) {
	for len(it.left) > 0 {
		h := it.left[0]
		it.left = it.left[1:]
		o, err := it.g.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return nil, err
		}
		if it.t == plumbing.AnyObject || it.t == o.Type() {
			return o, nil
		}
	}
	return nil, io.EOF
}

func (it *objectIter) ForEach(fn func(plumbing.EncodedObject) error) error {
	defer it.Close()
	for {
		o, err := it.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = fn(o)
		}
		if err == storer.ErrStop {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (it *objectIter) Close() { it.left = nil }
