package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// OpenDamaged opens a repository for its repair. In it HEAD and refs may be garbled, or missing; otherwise it refuses what
// Open refuses. What the Store reads is as certain as ever: an object is compared with its id, and a ref that cannot be
// read is an error. The caller closes the Store.
func OpenDamaged(fsys disk.FS, dir string) (*Store, error) {
	s := newStore(fsys, dir)
	check := func() error {
		found, err := s.exists("objects")
		if err == nil && !found {
			err = s.missing("objects")
		}
		return errors.Join(err, s.checkForeign(), s.checkConfig(), s.checkShallow())
	}
	if err := check(); err != nil {
		return nil, fmt.Errorf("open repository %s for repair: %w", dir, err)
	}
	return s, nil
}

// IntactRefs returns the refs that can be read, and an error for each that is garbled. HEAD is not one of them, nor are
// symbolic refs.
func (s *Store) IntactRefs() (map[string]plumbing.Hash, []*GarbledRefError, error) {
	if err := s.alive(); err != nil {
		return nil, nil, err
	}
	found := map[string]plumbing.Hash{}
	var bad []*GarbledRefError
	packed, err := s.readPackedRefs()
	if garbled, ok := errors.AsType[*GarbledRefError](err); ok {
		bad = append(bad, garbled)
	} else if err != nil {
		return nil, nil, fmt.Errorf("list refs: %w", err)
	}
	for _, r := range packed {
		found[r.name] = r.hash
	}
	err = s.eachLoose("refs", func(name string) error {
		v, err := s.readLoose(name)
		if garbled, ok := errors.AsType[*GarbledRefError](err); ok {
			bad = append(bad, garbled)
			delete(found, name) // the packed value is an older one
			return nil
		}
		if err == nil && v.target == "" {
			found[name] = v.hash
		}
		return ignoreNotExist(err)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list refs: %w", err)
	}
	return found, bad, nil
}

// RestoreRef gives a value to a ref that is garbled or absent. One that has a value is left alone: the error is a
// *RefChangedError. Other errors are those of UpdateRef. The caller knows that the value is right.
func (s *Store) RestoreRef(name string, value plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.restoreRef(name, value); err != nil {
		return fmt.Errorf("restore ref %s: %w", name, err)
	}
	return nil
}

func (s *Store) restoreRef(name string, value plumbing.Hash) error {
	if err := checkNewRefName(name); err != nil {
		return err
	}
	found, err := s.Has(value)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s: %w", value, plumbing.ErrObjectNotFound)
	}
	contents := value.String() + "\n"
	undeclare, err := s.declare(intent{s.refPath(name), contents})
	if err != nil {
		return err
	}
	p, err := s.lockRefFile(s.refPath(name))
	if err != nil {
		return errors.Join(err, undeclare())
	}
	v, err := s.readRef(name)
	_, garbled := errors.AsType[*GarbledRefError](err)
	switch {
	case garbled || errors.Is(err, plumbing.ErrReferenceNotFound):
		err = p.commit([]byte(contents))
	case err == nil:
		err = errors.Join(&RefChangedError{Name: name, Want: plumbing.ZeroHash, Have: v.hash}, p.abandon())
	default:
		err = errors.Join(err, p.abandon())
	}
	return errors.Join(err, undeclare())
}

// RemoveGarbledRef removes the file of a ref that is garbled. The ref is absent after that, or has the older value that
// stands in packed-refs. One that is absent or has a value is left alone. Errors are those of UpdateRef.
func (s *Store) RemoveGarbledRef(name string) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.removeGarbledRef(name); err != nil {
		return fmt.Errorf("remove the garbled ref %s: %w", name, err)
	}
	return nil
}

func (s *Store) removeGarbledRef(name string) error {
	path := s.refPath(name)
	undeclare, err := s.declare(intent{path, ""})
	if err != nil {
		return err
	}
	p, err := s.lockRefFile(path)
	if err != nil {
		return errors.Join(err, undeclare())
	}
	_, err = s.readLoose(name)
	if _, garbled := errors.AsType[*GarbledRefError](err); garbled {
		err = errors.Join(s.fs.Remove(path), s.fs.SyncDir(filepath.Dir(path)))
	}
	return errors.Join(ignoreNotExist(err), p.abandon(), undeclare())
}

// HeadIsGarbled reports whether HEAD is missing or holds no ref. One that is detached is neither.
func (s *Store) HeadIsGarbled() (bool, error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	_, err := s.readLoose("HEAD")
	if _, garbled := errors.AsType[*GarbledRefError](err); garbled || errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// Commits returns the ids of all commits that can be read, whether or not a ref leads to them. Packs that are damaged are
// passed over.
func (s *Store) Commits(ctx context.Context) ([]plumbing.Hash, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	found := map[plumbing.Hash]bool{}
	take := func(ids []plumbing.Hash) error {
		for _, h := range ids {
			if t, _, err := s.Size(h); err == nil && t == plumbing.CommitObject {
				found[h] = true
			} else if err != nil && !isDamage(err) {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	loose, err := s.looseIDs()
	if err == nil {
		err = take(loose)
	}
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	packs, err := s.listed()
	for _, p := range packs {
		if err == nil && p.open() == nil {
			err = take(indexed(p))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	return slices.Collect(maps.Keys(found)), nil
}

// indexed returns the ids in the index of an open pack; none if it cannot be read.
func indexed(p *pack) []plumbing.Hash {
	entries, err := p.index.Entries()
	if err != nil {
		return nil
	}
	ids := make([]plumbing.Hash, len(entries))
	for i, e := range entries {
		ids[i] = e.Hash
	}
	return ids
}

// listed returns the packs that there are now.
func (s *Store) listed() ([]*pack, error) {
	if _, err := s.packs.refresh(); err != nil {
		return nil, err
	}
	return s.packs.all()
}

// isDamage tells bytes that are wrong or missing from a disk that does not give them out.
func isDamage(err error) bool {
	_, corrupt := errors.AsType[*CorruptError](err)
	return corrupt || errors.Is(err, plumbing.ErrObjectNotFound)
}

// LeftLock returns the path of the lock file of a ref if there is one, once the append lock has been held: one that a
// killed process of ours left is removed by that.
func (s *Store) LeftLock(ctx context.Context, name string) (string, error) {
	lock, err := s.Lock(ctx)
	if err != nil {
		return "", err
	}
	if err := lock.Unlock(); err != nil {
		return "", err
	}
	path := s.refPath(name) + ".lock"
	p, err := s.lockFile(s.refPath(name))
	if taken, ok := errors.AsType[*RefLockedError](err); ok {
		return taken.Path, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // not even its folder is there
	}
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", filepath.Base(path), err)
	}
	return "", p.abandon()
}

// unreadableFile says that the file system refused to give out a file, which tells nothing of what is in it.
func unreadableFile(err error) bool {
	_, ok := errors.AsType[*fs.PathError](err)
	return ok
}
