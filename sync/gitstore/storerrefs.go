package gitstore

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage"

	"cairn/internal/disk"
)

// setRetries is how often a ref is set without regard to its old value while others change it as well.
const setRetries = 20

func (g *goGit) Reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	if err := g.s.alive(); err != nil {
		return nil, err
	}
	v, err := g.read(name)
	if err != nil {
		return nil, exactly(err, plumbing.ErrReferenceNotFound)
	}
	return reference(name, v), nil
}

func (g *goGit) read(name plumbing.ReferenceName) (refValue, error) {
	if name == plumbing.HEAD {
		return g.s.readLoose("HEAD")
	}
	v, err := g.s.readRef(name.String())
	if errors.Is(err, ErrRefName) {
		// go-git tries short names such as "main" as they are.
		return refValue{}, plumbing.ErrReferenceNotFound
	}
	return v, err
}

func reference(name plumbing.ReferenceName, v refValue) *plumbing.Reference {
	if v.target != "" {
		return plumbing.NewSymbolicReference(name, plumbing.ReferenceName(v.target))
	}
	return plumbing.NewHashReference(name, v.hash)
}

func (g *goGit) IterReferences() (storer.ReferenceIter, error) {
	values, err := g.s.refValues()
	if err != nil {
		return nil, err
	}
	head, err := g.Reference(plumbing.HEAD)
	if err != nil {
		return nil, err
	}
	refs := []*plumbing.Reference{head}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		refs = append(refs, reference(plumbing.ReferenceName(name), values[name]))
	}
	return storer.NewReferenceSliceIter(refs), nil
}

// SetReference sets a ref whatever it was before.
func (g *goGit) SetReference(ref *plumbing.Reference) error {
	if ref.Type() == plumbing.SymbolicReference {
		return g.setSymbolic(ref)
	}
	if ref.Name() == plumbing.HEAD {
		return fmt.Errorf("set HEAD to a commit: %w", ErrDetached)
	}
	for range setRetries {
		old, err := g.s.Ref(ref.Name().String())
		if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return err
		}
		if err == nil && old == ref.Hash() {
			return nil
		}
		err = g.s.UpdateRef(ref.Name().String(), old, ref.Hash())
		if !errors.Is(err, ErrRefChanged) {
			return err
		}
	}
	return storage.ErrReferenceHasChanged
}

func (g *goGit) setSymbolic(ref *plumbing.Reference) error {
	name, target := ref.Name().String(), ref.Target().String()
	if ref.Name() == plumbing.HEAD {
		return g.s.SetHead(target)
	}
	if err := errors.Join(g.s.alive(), checkRefName(name), checkRefName(target)); err != nil {
		return err
	}
	if ref.Name().IsBranch() {
		return fmt.Errorf("%w: the branch %s must not be symbolic", ErrRefName, name)
	}
	if err := disk.MakeDir(g.s.fs, filepath.Dir(g.s.refPath(name)), 0o755); err != nil {
		return err
	}
	return g.s.replaceFile(name, []byte("ref: "+target+"\n"))
}

// CheckAndSetReference sets a ref if it is what old says.
func (g *goGit) CheckAndSetReference(ref, old *plumbing.Reference) error {
	if old == nil {
		return g.SetReference(ref)
	}
	if ref.Type() != plumbing.HashReference || old.Type() != plumbing.HashReference {
		return fmt.Errorf("compare and set a symbolic ref: %w", errors.ErrUnsupported)
	}
	err := g.s.UpdateRef(ref.Name().String(), old.Hash(), ref.Hash())
	if errors.Is(err, ErrRefChanged) {
		return storage.ErrReferenceHasChanged // itself: go-git compares with ==
	}
	return err
}

func (g *goGit) RemoveReference(name plumbing.ReferenceName) error {
	if err := g.s.alive(); err != nil {
		return err
	}
	for range setRetries {
		v, err := g.s.readRef(name.String())
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = g.s.deleteRef(name.String(), v)
		if !errors.Is(err, ErrRefChanged) {
			return err
		}
	}
	return storage.ErrReferenceHasChanged
}

func (g *goGit) CountLooseRefs() (int, error) {
	if err := g.s.alive(); err != nil {
		return 0, err
	}
	loose := map[string]refValue{}
	err := g.s.collectLoose("refs", loose)
	return len(loose), err
}

// PackRefs is refused: a repository of ours has a handful of refs, and git pack-refs is there for others.
func (g *goGit) PackRefs() error {
	return fmt.Errorf("pack refs: %w; git pack-refs does it", errors.ErrUnsupported)
}
