package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// UpdateRef changes the ref with the given full name from old to new, or fails and leaves it alone. A zero old means that
// the ref must not exist. It follows git's own protocol, so it is safe beside stock git, and the change is durable when it
// returns nil. If the disk fails at the very end the ref may have changed although an error is returned: read it again.
//
// Errors: ErrRefName; ErrRefChanged (a *RefChangedError, which says what is there); *RefLockedError;
// *GarbledRefError; plumbing.ErrObjectNotFound if new is not in the repository.
func (s *Store) UpdateRef(name string, old, new plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.changeRef(name, old, new, (*pendingFile).commit)
}

// changeRef is UpdateRef with a way of its own to write the file.
func (s *Store) changeRef(name string, old, new plumbing.Hash, commit func(*pendingFile, []byte) error) error {
	if err := s.updateRef(name, old, new, commit); err != nil {
		return fmt.Errorf("update ref %s: %w", name, err)
	}
	return nil
}

func (s *Store) updateRef(name string, old, new plumbing.Hash, commit func(*pendingFile, []byte) error) error {
	if err := checkNewRefName(name); err != nil {
		return err
	}
	found, err := s.Has(new)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s: %w", new, plumbing.ErrObjectNotFound)
	}
	if old.IsZero() {
		if err := s.checkRoomFor(name); err != nil {
			return err
		}
	}
	contents := new.String() + "\n"
	err = s.withRefLock(name, refValue{hash: old}, []intent{{s.refPath(name), contents}}, func(p *pendingFile) error {
		return commit(p, []byte(contents))
	})
	if err != nil || s.holdsLock() {
		return err
	}
	return s.releaseKeeps()
}

// DeleteRef removes the ref with the given full name if it is old, from wherever it stands. The branch that HEAD points to
// is refused (ErrHeadBranch). Errors are otherwise those of UpdateRef.
func (s *Store) DeleteRef(name string, old plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.deleteRef(name, refValue{hash: old}); err != nil {
		return fmt.Errorf("delete ref %s: %w", name, err)
	}
	return nil
}

func (s *Store) deleteRef(name string, old refValue) error {
	if err := checkRefName(name); err != nil {
		return err
	}
	head, err := s.readLoose("HEAD")
	if err != nil {
		return err
	}
	if head.target == name {
		return ErrHeadBranch
	}
	intents := []intent{{s.refPath(name), ""}, {s.path("packed-refs"), packedRefsHeader}}
	return s.withRefLock(name, old, intents, func(p *pendingFile) error {
		err := s.removePackedRef(name)
		if err == nil {
			err = ignoreNotExist(s.fs.Remove(p.path))
		}
		err = errors.Join(err, p.abandon())
		if err != nil {
			return err
		}
		return s.fs.SyncDir(filepath.Dir(p.path))
	})
}

// removePackedRef comes before the loose file goes: otherwise the packed, older value would show for a moment.
func (s *Store) removePackedRef(name string) error {
	packed, err := s.readPackedRefs()
	if err != nil || indexOfRef(packed, name) < 0 {
		return err
	}
	p, err := s.lockFile(s.path("packed-refs"))
	if err != nil {
		return err
	}
	packed, err = s.readPackedRefs()
	i := indexOfRef(packed, name)
	if err != nil || i < 0 {
		return errors.Join(err, p.abandon())
	}
	return p.commit(formatPackedRefs(append(packed[:i:i], packed[i+1:]...)))
}

func indexOfRef(refs []packedRef, name string) int {
	for i, r := range refs {
		if r.name == name {
			return i
		}
	}
	return -1
}

// SetHead makes HEAD point to the branch ref, "refs/heads/...", which need not exist.
func (s *Store) SetHead(ref string) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := checkNewRefName(ref); err != nil {
		return fmt.Errorf("set HEAD: %w", err)
	}
	if !strings.HasPrefix(ref, "refs/heads/") {
		return fmt.Errorf("set HEAD to %s: %w", ref, ErrDetached)
	}
	if err := s.replaceFile("HEAD", []byte("ref: "+ref+"\n")); err != nil {
		return fmt.Errorf("set HEAD: %w", err)
	}
	return nil
}

// replaceFile changes a file that is not an ordinary ref, under its lock and whatever it held.
func (s *Store) replaceFile(name string, contents []byte) error {
	path := s.path(filepath.FromSlash(name))
	undeclare, err := s.declare(intent{path, string(contents)})
	if err != nil {
		return err
	}
	p, err := s.lockFile(path)
	if err == nil {
		err = p.commit(contents)
	}
	return errors.Join(err, undeclare())
}

// withRefLock runs change while the ref's lock file is ours and the ref is old. change ends the pendingFile.
func (s *Store) withRefLock(name string, old refValue, intents []intent, change func(*pendingFile) error) error {
	undeclare, err := s.declare(intents...)
	if err != nil {
		return err
	}
	p, err := s.lockRefFile(s.refPath(name))
	if err != nil {
		return errors.Join(err, undeclare())
	}
	if err := s.compareRef(name, old); err != nil {
		return errors.Join(err, p.abandon(), undeclare())
	}
	return errors.Join(change(p), undeclare())
}

// lockRefFile makes the directories that a ref needs. Git removes them when they are empty, also at this moment.
func (s *Store) lockRefFile(path string) (*pendingFile, error) {
	for range 3 {
		if err := disk.MakeDir(s.fs, filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		p, err := s.lockFile(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	return nil, fmt.Errorf("the directory of %s vanishes again and again", path)
}

// compareRef fails unless the ref is old; the zero value stands for no ref at all.
func (s *Store) compareRef(name string, old refValue) error {
	v, err := s.readRef(name)
	if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
		return err
	}
	if v == old {
		return nil
	}
	if v.target != "" {
		return fmt.Errorf("%w: it is symbolic and points to %s", ErrRefName, v.target)
	}
	return &RefChangedError{Name: name, Want: old.hash, Have: v.hash}
}

// checkRoomFor makes sure that no other ref is a directory of name, or in it. Empty directories that git left in the way
// are removed.
func (s *Store) checkRoomFor(name string) error {
	refs, err := s.refValues()
	if err != nil {
		return err
	}
	for other := range refs {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return fmt.Errorf("%w: %s is in the way", ErrRefName, other)
		}
	}
	return s.removeEmptyDirs(s.refPath(name))
}

// removeEmptyDirs leaves alone what is no directory, or cannot be looked at: that shows when the ref's lock file is made.
func (s *Store) removeEmptyDirs(dir string) error {
	info, err := s.fs.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, e := range entries {
		if err := s.removeEmptyDirs(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return ignoreNotExist(s.fs.Remove(dir))
}

func (s *Store) refPath(name string) string { return s.path(filepath.FromSlash(name)) }
