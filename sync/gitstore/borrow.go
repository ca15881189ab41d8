package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// layers reads objects from one Store after the other: a repository, and those that it borrows from.
type layers []*Store

func (l layers) Object(h plumbing.Hash) (Object, error) {
	for _, s := range l {
		o, err := s.Object(h)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return o, err
		}
	}
	return Object{}, fmt.Errorf("read object %s: %w", h, plumbing.ErrObjectNotFound)
}

func (l layers) Has(h plumbing.Hash) (bool, error) {
	for _, s := range l {
		if has, err := s.Has(h); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// CommitGraph is the repository's own.
func (l layers) CommitGraph() ([]byte, error) { return l[0].CommitGraph() }

func (l layers) close() error {
	var errs []error
	for _, s := range l {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Inspect looks at the bare repository in dir as OpenInbox does, and returns where its HEAD is. It writes nothing.
func Inspect(fsys disk.FS, dir string) (head Head, err error) {
	s := newStore(fsys, dir)
	s.borrows = true
	if err = s.check(); err == nil {
		head, err = s.Head()
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return Head{}, fmt.Errorf("look at repository %s: %w", dir, err)
	}
	return head, nil
}

// folderOf is a Store of nothing but the objects in one folder.
func folderOf(fsys disk.FS, objects string) *Store {
	s := newStore(fsys, filepath.Dir(objects))
	s.objects = filepath.Clean(objects)
	s.packs.init(fsys, filepath.Join(s.objects, "pack"), &s.files, s.forget)
	s.packs.optional = true
	return s
}

// maxBorrowed is how many folders a repository may borrow from, directly or by way of others. Git goes five steps.
const maxBorrowed = 64

// borrow opens the object folders named, and those that they and s borrow from in turn.
func (s *Store) borrow(named []string) (layers, error) {
	all := layers{s}
	seen := []string{s.objects}
	todo := slices.Clone(named)
	next, err := alternatesOf(s.fs, s.objects)
	if err != nil {
		return nil, err
	}
	for todo = append(todo, next...); len(todo) > 0; todo = todo[1:] {
		dir := filepath.Clean(todo[0])
		if slices.Contains(seen, dir) {
			continue
		}
		if len(seen) == maxBorrowed {
			return nil, s.foreign(fmt.Sprintf("borrows objects from over %d folders", maxBorrowed))
		}
		if _, err := s.fs.Stat(dir); err != nil {
			return nil, fmt.Errorf("borrow objects: %w", err)
		}
		seen = append(seen, dir)
		all = append(all, folderOf(s.fs, dir))
		next, err := alternatesOf(s.fs, dir)
		if err != nil {
			return nil, err
		}
		todo = append(todo, next...)
	}
	return all, nil
}

// alternatesOf are the folders that an object folder borrows from, as its info/alternates names them: a line each, from
// that folder if not from the root.
func alternatesOf(fsys disk.FS, objects string) ([]string, error) {
	data, err := disk.ReadFile(fsys, filepath.Join(objects, "info", "alternates"))
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	var dirs []string
	for line := range bytes.Lines(data) {
		name := string(bytes.TrimRight(line, "\r\n"))
		switch {
		case name == "" || name[0] == '#':
		case name[0] == '"':
			return nil, &ForeignFormatError{Dir: objects, What: "borrows objects from a folder with a name in quotes"}
		case filepath.IsAbs(name):
			dirs = append(dirs, name)
		default:
			dirs = append(dirs, filepath.Join(objects, name))
		}
	}
	return dirs, nil
}
