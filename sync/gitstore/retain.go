package gitstore

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// What is in this file takes objects off the disk for good. A repository does that only when something was purged from its
// history: GatherPack what is to stay, then RemoveAllBut that.

// pendingName is the file that is there while objects are to be removed that no ref leads to any more.
const pendingName = "purge.pending"

// SetPending notes durably that objects are to be removed: whoever finds the note finishes that. It says nothing else.
func (s *Store) SetPending() error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := atomicfile.Write(s.fs, s.path(pendingName), []byte("objects that no ref leads to are to be removed\n"), 0o644); err != nil {
		return fmt.Errorf("note that objects are to be removed: %w", err)
	}
	return nil
}

// IsPending reports whether objects are still to be removed.
func (s *Store) IsPending() (bool, error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	return s.exists(pendingName)
}

// ClearPending takes the note back.
func (s *Store) ClearPending() error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := ignoreNotExist(s.fs.Remove(s.path(pendingName))); err != nil {
		return err
	}
	return s.fs.SyncDir(s.dir)
}

// LockPending waits until nobody else removes objects from the repository, and keeps others from it: whoever stores what no
// ref will lead to for a while holds it. It is another lock than that of Lock, so that appends go on, and is taken before it.
func (s *Store) LockPending(ctx context.Context) (*disk.FileLock, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	return disk.Lock(ctx, s.path("purge.lock"))
}

// Refresh forgets what this process remembers of packs and objects, after another one has removed some.
func (s *Store) Refresh() error {
	if err := s.alive(); err != nil {
		return err
	}
	s.forgetAll()
	_, err := s.packs.refresh()
	return err
}

// GatherPack stores the objects with the given ids durably as one new pack, whether or not they are stored in others, reads
// the whole pack back, and returns its name ("pack-..."), or "" for no objects. It may take long, can be canceled, and needs
// no lock.
func (s *Store) GatherPack(ctx context.Context, ids []plumbing.Hash) (name string, err error) {
	if err := s.alive(); err != nil || len(ids) == 0 {
		return "", err
	}
	p, err := s.gather(ctx, ids)
	if err != nil {
		return "", fmt.Errorf("gather %d objects in a pack: %w", len(ids), err)
	}
	return filepath.Base(p.base), nil
}

func (s *Store) gather(ctx context.Context, ids []plumbing.Hash) (*pack, error) {
	list, err := s.locate(ids)
	if err != nil {
		return nil, err
	}
	trees, err := collectTrees(ctx, packedOnly(list))
	if err != nil {
		return nil, err
	}
	p, err := s.writePack(len(list), func(w *packfmt.Writer) error {
		w.SetLevel(foldLevel)
		c := copier{w: w, load: s.Object, dense: newDensifier(), pause: ctx.Err}
		if err := c.placeTrees(trees); err != nil {
			return err
		}
		return c.copyAll(list)
	})
	if err != nil {
		return nil, err
	}
	return p, p.readBack()
}

// packedOnly leaves out what is loose.
func packedOnly(list []wanted) []wanted {
	return slices.DeleteFunc(slices.Clone(list), func(w wanted) bool { return w.at.pack == nil })
}

// readBack compares the files of a pack with the checksums in them.
func (p *pack) readBack() error {
	if err := p.open(); err != nil {
		return err
	}
	want, err := p.index.PackSum()
	if err := errors.Join(err, p.index.VerifyChecksum()); err != nil {
		return err
	}
	digest := sha1.New()
	body := io.NewSectionReader(lazyFile{p.files, p.packPath()}, 0, p.size-packfmt.TrailerSize)
	if _, err := io.Copy(digest, body); err != nil {
		return err
	}
	if plumbing.Hash(digest.Sum(nil)) != want {
		return fmt.Errorf("%w pack: its checksum is wrong", packfmt.ErrMalformed)
	}
	return nil
}

// RemoveAllBut removes every pack but the named ones, every loose object and whatever else may hold bytes of objects or
// lead to them: what killed writers left, indexes over packs, reflogs. Nothing protects a pack. The refs must lead to
// nothing else than the named packs hold, all of which must be there, or the error is ErrPackGone and nothing was removed.
// The caller holds the append lock.
//
// left says how many files could not be removed because another process reads them, as on Windows. If there are any, call
// it again later.
func (s *Store) RemoveAllBut(packs ...string) (left int, err error) {
	if err := s.alive(); err != nil {
		return 0, err
	}
	r := remover{s: s}
	if err := r.run(packs); err != nil {
		return r.left, fmt.Errorf("remove objects: %w", err)
	}
	return r.left, nil
}

type remover struct {
	s    *Store
	left int
}

func (r *remover) run(packs []string) error {
	for _, name := range packs {
		there, err := r.s.exists(path.Join("objects", "pack", name+".pack"))
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("%w: %s", ErrPackGone, name)
		}
	}
	for _, step := range []func() error{
		r.indexes,
		func() error { return r.packFolder(packs) },
		r.loose,
		r.s.sweepQuarantines,
		func() error { return r.remove(r.s.path("logs")) },
		r.sync,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	r.s.forgetAll()
	_, err := r.s.packs.refresh()
	return err
}

// indexes go first: none of them may name what is gone.
func (r *remover) indexes() error {
	if err := r.s.removeAll("multi-pack-index*"); err != nil {
		return err
	}
	return errors.Join(r.commitGraphs(), r.remove(r.s.path("objects", "info", "packs")))
}

func (r *remover) commitGraphs() error {
	return r.folder(r.s.path("objects", "info"), func(name string) bool { return strings.HasPrefix(name, "commit-graph") })
}

// packFolder removes all files of other packs, the index of each after its pack, and drafts.
func (r *remover) packFolder(packs []string) error {
	dir := r.s.path("objects", "pack")
	other := func(name string) bool { return !slices.Contains(packs, strings.TrimSuffix(name, filepath.Ext(name))) }
	for _, last := range []bool{false, true} {
		err := r.folder(dir, func(name string) bool { return other(name) && strings.HasSuffix(name, ".idx") == last })
		if err != nil {
			return err
		}
	}
	return nil
}

// loose removes the folders of loose objects, and those in which stock git keeps what it receives.
func (r *remover) loose() error {
	return r.folder(r.s.path("objects"), func(name string) bool { return name != "pack" && name != "info" && name != "incoming" })
}

// sync makes it durable, so that nothing of it is back after a power cut.
func (r *remover) sync() error {
	for _, dir := range []string{r.s.path("objects", "pack"), r.s.path("objects", "info"), r.s.incoming(), r.s.path("objects"), r.s.dir} {
		if err := r.s.fs.SyncDir(dir); err != nil && !isGone(err) {
			return err
		}
	}
	return nil
}

func (r *remover) folder(dir string, doomed func(name string) bool) error {
	entries, err := r.s.fs.ReadDir(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, e := range entries {
		if !doomed(e.Name()) {
			continue
		}
		if err := r.remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file or a folder. The handle that this process may have of it is closed first.
func (r *remover) remove(path string) error {
	err := errors.Join(r.s.files.drop(path), r.s.fs.RemoveAll(path))
	if disk.InUse(err) {
		r.left++
		return nil
	}
	return err
}
