package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blugelabs/bluge/index"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/internal/disk"
	"cairn/search/segfile"
)

// A directory is where Bluge keeps segments and snapshots. It differs from
// Bluge's own in what a crash may leave behind: a file appears whole or not
// at all, and a snapshot is durable, names included, before the one it
// replaces is removed. Files of other names are no concern of it. It takes no
// lock, for the Index has one.
type directory struct {
	*index.FileSystemDirectory
	fsys  disk.FS
	path  string
	pause time.Duration // after a write that failed, so that Bluge's retries do not spin

	spoiled func(error) // told that segments could not be merged for damage
}

const defaultPause = time.Second

func newDirectory(fsys disk.FS, path string) *directory {
	return &directory{
		FileSystemDirectory: index.NewFileSystemDirectory(path),
		fsys:                fsys,
		path:                path,
		pause:               defaultPause,
		spoiled:             func(error) {},
	}
}

func (d *directory) Lock() error   { return nil }
func (d *directory) Unlock() error { return nil }

func (d *directory) List(kind string) ([]uint64, error) {
	entries, err := d.fsys.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, e := range entries {
		if id, ok := itemID(e.Name(), kind); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

func itemName(kind string, id uint64) string { return fmt.Sprintf("%012x%s", id, kind) }

func itemID(name, kind string) (uint64, bool) {
	hex, ok := strings.CutSuffix(name, kind)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(hex, 16, 64)
	return id, err == nil && itemName(kind, id) == name
}

func (d *directory) Persist(kind string, id uint64, w index.WriterTo, closed chan struct{}) error {
	path := filepath.Join(d.path, itemName(kind, id))
	err := d.write(path, w, closed)
	if err == nil && kind == index.ItemKindSnapshot {
		err = d.fsys.SyncDir(d.path)
	}
	if errors.Is(err, segment.ErrClosed) {
		return segment.ErrClosed // Bluge compares it with ==
	}
	if errors.Is(err, segfile.ErrDamaged) {
		d.spoiled(err) // Bluge keeps but the text of an error
	}
	if err != nil {
		select {
		case <-closed:
		case <-time.After(d.pause):
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

const tempSuffix = ".tmp"

func (d *directory) write(path string, w index.WriterTo, closed chan struct{}) error {
	temp := path + tempSuffix
	f, err := d.fsys.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = w.WriteTo(f, closed)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = d.fsys.Rename(temp, path)
	}
	if err != nil {
		d.fsys.Remove(temp)
	}
	return err
}

func (d *directory) Sync() error { return d.fsys.SyncDir(d.path) }

// Load compares a snapshot with its checksum before Bluge does so, for Bluge
// first makes room for as much as its lengths say.
func (d *directory) Load(kind string, id uint64) (*segment.Data, io.Closer, error) {
	data, closer, err := d.FileSystemDirectory.Load(kind, id)
	if err != nil || kind != index.ItemKindSnapshot {
		return data, closer, err
	}
	if err := checkSnapshot(data); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read %s: %w", itemName(kind, id), err), closer.Close())
	}
	return data, closer, nil
}

func checkSnapshot(data *segment.Data) error {
	end := data.Len() - crc32.Size
	if end < 0 {
		return errChecksum
	}
	all, err := data.Read(0, data.Len())
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(all[:end]) != binary.BigEndian.Uint32(all[end:]) {
		return errChecksum
	}
	return nil
}

// sweep removes what an interrupted process left behind: half-written files,
// snapshots that cannot be loaded, and segments that no snapshot needs. Bluge
// itself forgets about those.
func (d *directory) sweep() error {
	needed := map[uint64]bool{}
	snapshots, err := d.List(index.ItemKindSnapshot)
	if err != nil {
		return err
	}
	var unusable []uint64
	for _, id := range snapshots {
		if !d.segmentsOf(id, needed) {
			unusable = append(unusable, id)
		}
	}
	if len(snapshots) > 0 && len(unusable) == len(snapshots) {
		return nil // leave everything for whoever wants to look at it
	}
	for _, id := range unusable {
		if err := d.fsys.Remove(filepath.Join(d.path, itemName(index.ItemKindSnapshot, id))); err != nil {
			return err
		}
	}
	return d.removeOrphans(needed)
}

// segmentsOf adds the segments of one snapshot, and says whether it can be
// loaded. Damaged dictionaries make it panic, before anything depends on them.
func (d *directory) segmentsOf(id uint64, needed map[uint64]bool) bool {
	snap, err := index.OpenReader(blugeConfig(&oneSnapshot{directory: d, id: id}))
	if err != nil {
		return false
	}
	ok := true
	for _, s := range snap.Segments() {
		needed[s.ID()] = true
		source, err := sourceOf(s)
		if err == nil {
			err = (&seg{source: source}).load()
		}
		ok = ok && err == nil
	}
	return snap.Close() == nil && ok
}

// oneSnapshot is a directory with no other snapshot than one.
type oneSnapshot struct {
	*directory
	id uint64
}

func (o *oneSnapshot) List(kind string) ([]uint64, error) {
	if kind == index.ItemKindSnapshot {
		return []uint64{o.id}, nil
	}
	return o.directory.List(kind)
}

func (d *directory) removeOrphans(needed map[uint64]bool) error {
	entries, err := d.fsys.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, isSegment := itemID(e.Name(), index.ItemKindSegment)
		if isSegment && !needed[id] || strings.HasSuffix(e.Name(), tempSuffix) {
			if err := d.fsys.Remove(filepath.Join(d.path, e.Name())); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}
