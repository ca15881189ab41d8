package gitstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// RewritePack stores objs, of which none comes twice, durably as one pack, whether or not they are stored already: a stored
// copy may be one that a power cut will take, or has spoiled. Trees that are versions of one another become deltas. Its id
// is returned; of several packs with that id this one remains.
//
// Until the next update of a ref, or Unlock while the append lock is held, the pack is kept from stock git's garbage
// collection.
func (s *Store) RewritePack(objs []Object) (id plumbing.Hash, err error) {
	if err := s.alive(); err != nil {
		return id, err
	}
	if id, err = s.rewritePack(objs); err != nil {
		return id, fmt.Errorf("write a pack of %d objects: %w", len(objs), err)
	}
	return id, nil
}

func (s *Store) rewritePack(objs []Object) (id plumbing.Hash, err error) {
	d, err := s.draftPack(s.path("objects", "pack"), len(objs), func(w *packfmt.Writer) error {
		return writeVersions(w, objs)
	})
	if err != nil {
		return id, err
	}
	// What was of this name before may be spoiled, and must not be read on.
	former := &pack{files: &s.files, fs: s.fs, base: s.packBase(d.sum)}
	if err := errors.Join(former.drop(), s.removeLeftKeep(former.base+".keep")); err != nil {
		return id, errors.Join(err, d.discard())
	}
	_, err = d.publish()
	return d.sum, err
}

// writeVersions writes the trees among objs as versions of each other, and the rest as it is.
func writeVersions(w *packfmt.Writer, objs []Object) error {
	c := copier{w: w}
	var trees []treeVersion
	for i, o := range objs {
		if o.Type == plumbing.TreeObject {
			// It is in no pack yet: its number tells it from the others.
			trees = append(trees, treeVersion{
				wanted: wanted{hash: o.Hash, at: storedCopy{offset: int64(i)}},
				family: familyOf(o.Data), size: len(o.Data), data: o.Data,
			})
		}
	}
	if err := c.placeTrees(trees); err != nil {
		return err
	}
	for _, o := range objs {
		if o.Type == plumbing.TreeObject {
			continue
		}
		if err := w.Object(o.Hash, o.Type, o.Data); err != nil {
			return err
		}
	}
	return nil
}

// RemovePacks removes the packs with the given ids, durably, as far as they are there and whatever is in their files. Every
// object in them must be stored elsewhere, or be needed by nobody, and nobody may be writing one of them. A .keep file that
// a user made protects a pack; on Windows so does a reader, for as long as it reads.
func (s *Store) RemovePacks(ids ...plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.removePacks(ids); err != nil {
		return fmt.Errorf("remove %d packs: %w", len(ids), err)
	}
	return nil
}

func (s *Store) removePacks(ids []plumbing.Hash) error {
	if err := s.removeAll("multi-pack-index*"); err != nil {
		return err
	}
	for _, id := range ids {
		base := s.packBase(id)
		if err := s.removeLeftKeep(base + ".keep"); err != nil {
			return err
		}
		if err := s.removePack(&pack{files: &s.files, fs: s.fs, base: base}); err != nil && !disk.InUse(err) {
			return err
		}
	}
	if err := s.fs.SyncDir(s.path("objects", "pack")); err != nil {
		return err
	}
	_, err := s.packs.refresh()
	return err
}

func (s *Store) packBase(id plumbing.Hash) string {
	return s.path("objects", "pack", "pack-"+id.String())
}

// SettleRef makes the ref with the given full name durable as it stands. Beside others who change it, it is the value
// of some moment during the call.
func (s *Store) SettleRef(name string) error {
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.settleRef(name); err != nil {
		return fmt.Errorf("make ref %s durable: %w", name, err)
	}
	return nil
}

func (s *Store) settleRef(name string) error {
	for range maxRounds {
		if _, err := s.readRef(name); err != nil {
			return err
		}
		path := s.refPath(name)
		err := s.syncFile(path)
		if isGone(err) { // it is packed, with all others in one file
			path = s.path("packed-refs")
			err = s.syncFile(path)
		}
		if !isGone(err) {
			return errors.Join(err, s.fs.SyncDir(filepath.Dir(path)))
		}
	}
	return fmt.Errorf("its file vanishes again and again: %w", plumbing.ErrReferenceNotFound)
}

func (s *Store) syncFile(path string) error {
	f, err := s.fs.OpenFile(path, os.O_RDWR, 0) // Windows syncs no file that is open for reading alone
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
