package gitstore

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// WritePack stores objs as one new pack and returns its name ("pack-..."), or "" if there was nothing to store: objects
// that come twice, or are stored already, are left out. When it returns nil the objects are durable and visible to every
// process.
//
// Until the next UpdateRef, or Unlock while the append lock is held, a .keep file protects the pack from a stock git that
// collects garbage beside us.
func (s *Store) WritePack(objs []Object) (name string, err error) {
	if err := s.alive(); err != nil {
		return "", err
	}
	fresh, err := s.unstored(objs)
	if err != nil || len(fresh) == 0 {
		return "", err
	}
	p, err := s.writePack(len(fresh), func(w *packfmt.Writer) error {
		for _, o := range fresh {
			if err := w.Object(o.Hash, o.Type, o.Data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("write a pack of %d objects: %w", len(fresh), err)
	}
	s.remember(p, fresh)
	return filepath.Base(p.base), nil
}

func (s *Store) unstored(objs []Object) ([]Object, error) {
	seen := make(map[plumbing.Hash]bool, len(objs))
	fresh := make([]Object, 0, len(objs))
	for _, o := range objs {
		if seen[o.Hash] {
			continue
		}
		seen[o.Hash] = true
		stored, err := s.hasKnown(o.Hash)
		if err != nil {
			return nil, fmt.Errorf("look for object %s: %w", o.Hash, err)
		}
		if !stored {
			fresh = append(fresh, o)
		}
	}
	return fresh, nil
}

// remember puts commits and trees into the cache: the next append builds on them.
func (s *Store) remember(p *pack, objs []Object) {
	for _, o := range objs {
		if o.Type == plumbing.BlobObject {
			continue
		}
		if offset, ok, err := p.find(o.Hash); err == nil && ok {
			s.cache.put(storedCopy{p, offset}, o)
		}
	}
}

// A packDraft is a pack that is being written: two temporary files.
type packDraft struct {
	s       *Store
	pack    disk.File
	index   disk.File
	sum     plumbing.Hash
	entries []packfmt.IndexEntry
	size    int64  // of the pack
	small   []byte // the index, if it is small enough to be kept in memory
	late    bool   // its writer makes it durable later
	named   bool   // the pack has its name
	closed  bool
	common  bool // others may be making the very same pack, or may have made it
}

// published returns the pack of this name if it is there already, whole, or nil. It must not be published once more: a git
// that collects garbage notes first which packs there are, and looks later which of them are kept. Our .keep file for a
// pack that it has noted would make it leave out the pack's objects, as kept, and then remove the pack, as noted.
func (d *packDraft) published(base string) (*pack, error) {
	if !d.common {
		return nil, nil
	}
	f, err := disk.Open(d.s.fs, base+".pack")
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	sum := sha1.New()
	_, err = io.Copy(sum, io.LimitReader(f, d.size-int64(len(d.sum))))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	p := d.s.packs.add(base)
	if [20]byte(sum.Sum(nil)) != d.sum || p.open() != nil {
		return nil, nil
	}
	return p, nil
}

// The names of temporary files in the pack folder. Not "tmp_", as git's are: git gc --prune=now removes
// those, however new they are.
const (
	draftPackFile  = "new-*.pack-draft"
	draftIndexFile = "new-*.idx-draft"
)

// writePack makes a pack of count entries out of what fill writes, and adds it to the repository.
func (s *Store) writePack(count int, fill func(*packfmt.Writer) error) (*pack, error) {
	d, err := s.draftPack(s.path("objects", "pack"), count, fill)
	if err != nil {
		return nil, err
	}
	return d.publish()
}

// draftPack writes a pack and its index into temporary files in dir and syncs both. On an error nothing is left.
func (s *Store) draftPack(dir string, count int, fill func(*packfmt.Writer) error) (*packDraft, error) {
	d := &packDraft{s: s}
	if err := d.write(dir, count, fill); err != nil {
		return nil, errors.Join(err, d.discard())
	}
	return d, nil
}

func (d *packDraft) write(dir string, count int, fill func(*packfmt.Writer) error) error {
	if err := d.create(dir); err != nil {
		return err
	}
	if err := d.writePack(count, fill); err != nil {
		return err
	}
	if err := d.writeIndex(); err != nil {
		return err
	}
	return syncBoth(d.pack, d.index)
}

func (d *packDraft) create(dir string) (err error) {
	if d.pack, err = disk.CreateTemp(d.s.fs, dir, draftPackFile, 0o444); err != nil {
		return err
	}
	d.index, err = disk.CreateTemp(d.s.fs, dir, draftIndexFile, 0o444)
	return err
}

// writeIndex keeps a small index for the pack that will be in use in a moment. It is the last to need the entries.
func (d *packDraft) writeIndex() error {
	defer func() { d.entries = nil }()
	if len(d.entries) > smallIndex/64 {
		return packfmt.WriteIndex(d.index, d.entries, d.sum)
	}
	var buf bytes.Buffer
	if err := packfmt.WriteIndex(&buf, d.entries, d.sum); err != nil {
		return err
	}
	d.small = buf.Bytes()
	_, err := d.index.Write(d.small)
	return err
}

func (d *packDraft) writePack(count int, fill func(*packfmt.Writer) error) error {
	buf := bufio.NewWriterSize(d.pack, 64<<10)
	w, err := packfmt.NewWriter(buf, uint32(count), d.s.level)
	if err != nil {
		return err
	}
	if err := fill(w); err != nil {
		return err
	}
	if d.sum, d.entries, err = w.Finish(); err != nil {
		return err
	}
	d.size = w.Offset()
	return buf.Flush()
}

// syncBoth syncs two files at once: a journaling file system commits both with one write.
func syncBoth(a, b disk.File) error {
	second := make(chan error, 1)
	go func() { second <- b.Sync() }()
	return errors.Join(a.Sync(), <-second)
}

// publish gives the files their names, the index last, and makes the names durable unless that comes later. Git has the
// same order, and relies on it: "git gc" removes an index without a pack, and the pack that came a moment later would
// never be found. A pack without an index it leaves alone.
func (d *packDraft) publish() (*pack, error) {
	base := d.s.path("objects", "pack", "pack-"+d.sum.String())
	if err := d.close(); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	if p, err := d.published(base); err != nil || p != nil {
		d.named = p != nil
		return p, errors.Join(err, d.remove())
	}
	if err := d.s.keep(base); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	if err := d.s.fs.Rename(d.pack.Name(), base+".pack"); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	d.named = true
	if err := d.s.fs.Rename(d.index.Name(), base+".idx"); err != nil {
		if !d.common { // else it may be another one's by now; without an index it does no harm
			err = errors.Join(err, d.s.fs.Remove(base+".pack"))
		}
		return nil, errors.Join(err, d.remove())
	}
	if !d.late {
		if err := d.s.fs.SyncDir(filepath.Dir(base)); err != nil {
			return nil, err
		}
	}
	p := d.s.packs.add(base)
	if d.small == nil {
		return p, nil
	}
	return p, p.adopt(d.small, d.size)
}

// discard closes and removes what has been made of the files.
func (d *packDraft) discard() error { return errors.Join(d.close(), d.remove()) }

// close may be called again.
func (d *packDraft) close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	for _, f := range []disk.File{d.pack, d.index} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (d *packDraft) remove() error {
	var errs []error
	for _, f := range []disk.File{d.pack, d.index} {
		if f != nil {
			errs = append(errs, ignoreNotExist(d.s.fs.Remove(f.Name())))
		}
	}
	return errors.Join(errs...)
}
