package gitstore

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// A Damage is a file in which objects are stored and that is not as it should be.
type Damage struct {
	File   string // from the repository's folder, with slashes
	Err    error  // what is wrong with it
	Mended string // what was done, in words; empty if nothing could be
	// Lost are objects of which this file held the only copy, as far as that can be told. Whoever has them elsewhere can
	// store them again; then the file can be mended.
	Lost []plumbing.Hash
}

// MendObjects looks at all packs and loose objects and mends what it can without losing anything: an index that is
// missing or damaged is made again from its pack; a pack or a loose object with damaged bytes is replaced if there are
// good copies of everything in it. What cannot be mended is left as it is. deep reads every byte; otherwise each file is
// looked at only as far as its use would.
//
// The caller must not hold the append lock. The error is not a damage: the disk could not be read, or ctx has ended.
func (s *Store) MendObjects(ctx context.Context, deep bool) ([]Damage, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	m := &packMender{s: s, deep: deep}
	err := m.lonePacks(ctx)
	if err == nil {
		err = m.packs(ctx)
	}
	if err == nil && deep {
		err = m.loose(ctx)
	}
	if err != nil {
		return m.found, fmt.Errorf("mend repository %s: %w", s.dir, err)
	}
	return m.found, nil
}

type packMender struct {
	s     *Store
	deep  bool
	found []Damage
}

func (m *packMender) add(path string, err error, mended string, lost []plumbing.Hash) {
	file, relErr := filepath.Rel(m.s.dir, path)
	if relErr != nil {
		file = path
	}
	m.found = append(m.found, Damage{File: filepath.ToSlash(file), Err: err, Mended: mended, Lost: lost})
}

var errNoIndex = errors.New("the pack has no index, so nothing in it is found")

// lonePacks makes the missing indexes of packs.
func (m *packMender) lonePacks(ctx context.Context) error {
	entries, err := m.s.fs.ReadDir(m.s.path("objects", "pack"))
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for name := range names {
		stem, isPack := strings.CutSuffix(name, ".pack")
		if !isPack || names[stem+".idx"] {
			continue
		}
		p := m.s.packAt(m.s.path("objects", "pack", stem))
		if err := m.reindex(ctx, p, errNoIndex); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) packAt(base string) *pack { return &pack{files: &s.files, fs: s.fs, base: base} }

// packs looks at the packs that have an index.
func (m *packMender) packs(ctx context.Context) error {
	list, err := m.s.listed()
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		// One that is open was good when it was opened.
		fresh := m.s.packAt(p.base)
		bad := fresh.open()
		if bad == nil && m.deep {
			bad = fresh.verify()
		}
		switch {
		case bad == nil || isGone(bad):
			continue
		case !isMalformed(bad):
			return bad
		}
		if err := errors.Join(p.drop(), m.reindex(ctx, p, bad)); err != nil {
			return err
		}
	}
	return nil
}

func isMalformed(err error) bool {
	return errors.Is(err, packfmt.ErrMalformed) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// verify reads the whole pack and its index and compares their checksums.
func (p *pack) verify() error {
	if err := p.index.VerifyChecksum(); err != nil {
		return fmt.Errorf("verify %s: %w", p.indexPath(), err)
	}
	want, err := p.index.PackSum()
	if err != nil {
		return err
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, io.NewSectionReader(lazyFile{p.files, p.packPath()}, 0, p.size-packfmt.TrailerSize)); err != nil {
		return err
	}
	if plumbing.Hash(sum.Sum(nil)) != want {
		return fmt.Errorf("verify %s: %w pack: its checksum is wrong", p.packPath(), packfmt.ErrMalformed)
	}
	return nil
}

// reindex makes the index of p again. If the pack itself is damaged, it is salvaged by the index that it has.
func (m *packMender) reindex(ctx context.Context, p *pack, why error) error {
	err := m.s.makeIndex(ctx, p)
	if _, bad := errors.AsType[*BadPackError](err); bad {
		return m.salvage(ctx, p, err)
	}
	if isGone(err) {
		return nil // its objects are in another pack now
	}
	if err != nil {
		return err
	}
	path := p.indexPath()
	m.add(path, why, "it was made again from the pack", nil)
	_, err = m.s.packs.refresh()
	return err
}

// makeIndex writes the index of p by reading the pack. The error is a *BadPackError if the pack is at fault.
func (s *Store) makeIndex(ctx context.Context, p *pack) error {
	table, sum, err := s.scanPack(ctx, p)
	if err != nil {
		return err
	}
	entries := make([]packfmt.IndexEntry, len(table.list))
	for i, a := range table.list {
		entries[i] = packfmt.IndexEntry{Hash: a.hash, Offset: a.offset, CRC: a.crc}
	}
	l, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.writeIndexOf(p, entries, sum), l.Unlock())
}

// writeIndexOf replaces the index of p. The caller holds the append lock.
func (s *Store) writeIndexOf(p *pack, entries []packfmt.IndexEntry, sum plumbing.Hash) error {
	dir := filepath.Dir(p.base)
	f, err := disk.CreateTemp(s.fs, dir, draftIndexFile, 0o444)
	if err != nil {
		return err
	}
	err = packfmt.WriteIndex(f, entries, sum)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = errors.Join(p.drop(), s.removeAll("multi-pack-index*"))
	}
	if err == nil {
		err = s.fs.Rename(f.Name(), p.indexPath())
	}
	if err != nil {
		return errors.Join(err, ignoreNotExist(s.fs.Remove(f.Name())))
	}
	return s.fs.SyncDir(dir)
}

// unlimited bounds nothing but what cannot be: the pack is ours already.
var unlimited = Limits{Bytes: 1 << 62, Objects: 1<<31 - 1, ObjectSize: maxPackedObject, Inflated: 1 << 62, Depth: maxChain}

// scanPack reads a whole pack and finds out the id of everything in it.
func (s *Store) scanPack(ctx context.Context, p *pack) (_ *arrivals, sum plumbing.Hash, err error) {
	f, err := disk.Open(s.fs, p.packPath())
	if err != nil {
		return nil, sum, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, sum, err
	}
	in := newPackReader(f, io.Discard, unlimited)
	table, err := in.readPack(ctx)
	if err != nil {
		return nil, sum, in.blame(err)
	}
	if in.offset != info.Size() {
		return nil, sum, &BadPackError{Offset: in.offset, Err: fmt.Errorf("%w pack: it goes on after its end", packfmt.ErrMalformed)}
	}
	rec := &received{pack: &pack{files: p.files, fs: p.fs, base: p.base, size: in.offset}, table: table, lim: unlimited}
	if err := rec.resolve(ctx, s); err != nil {
		return nil, sum, errors.Join(blamePack(err, in.offset), p.drop())
	}
	if len(table.thin) > 0 {
		return nil, sum, &BadPackError{Offset: in.offset, Err: errUnresolved}
	}
	return table, in.sum, p.drop()
}

// salvage replaces a damaged pack, if there is a good copy of each object in it.
func (m *packMender) salvage(ctx context.Context, p *pack, why error) error {
	ids, err := p.listedIn()
	if err != nil {
		m.add(p.packPath(), why, "", nil) // nobody knows what was in it
		return nil
	}
	lost, err := m.s.unreadable(ctx, ids)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		m.add(p.packPath(), why, "", lost)
		return nil
	}
	if err := m.s.replacePack(ctx, p); err != nil {
		return err
	}
	mended := "there are good copies of all it held: it was replaced"
	if _, err := m.s.fs.Stat(p.packPath()); err == nil {
		mended = "" // somebody keeps it
	}
	m.add(p.packPath(), why, mended, nil)
	return nil
}

// listedIn returns what the index says is in the pack, whatever became of the pack.
func (p *pack) listedIn() ([]plumbing.Hash, error) {
	index, err := p.openIndex()
	if err == nil {
		err = index.VerifyChecksum()
	}
	if err != nil {
		return nil, err
	}
	return indexed(&pack{index: index}), p.drop()
}

// unreadable returns those of ids of which there is no good copy.
func (s *Store) unreadable(ctx context.Context, ids []plumbing.Hash) ([]plumbing.Hash, error) {
	var bad []plumbing.Hash
	for _, h := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		good, err := s.readable(h)
		if err != nil {
			return nil, err
		}
		if !good {
			bad = append(bad, h)
		}
	}
	return bad, nil
}

// replacePack writes what p holds into a new pack and removes p. Every object in p can be read, here or elsewhere; if p
// cannot be opened, all of them elsewhere.
func (s *Store) replacePack(ctx context.Context, p *pack) (err error) {
	p = s.packAt(p.base) // nothing that was known of it counts
	if p.open() == nil {
		draft, err := s.join(ctx, []*pack{p})
		if err != nil {
			return err
		}
		var stats CompactStats
		return s.exchange(ctx, draft, []*pack{p}, &stats)
	}
	l, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if err := errors.Join(s.removeAll("multi-pack-index*"), s.removePack(p)); err != nil {
		return err
	}
	_, err = s.packs.refresh()
	return err
}

// loose looks at all loose objects. A damaged one of which there is a good copy in a pack is removed.
func (m *packMender) loose(ctx context.Context) error {
	ids, err := m.s.looseIDs()
	if err != nil {
		return err
	}
	slices.SortFunc(ids, func(a, b plumbing.Hash) int { return strings.Compare(a.String(), b.String()) })
	for _, h := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, bad := m.s.loadLoose(h); bad != nil {
			if err := m.looseDamage(h, bad); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *packMender) looseDamage(h plumbing.Hash, bad error) error {
	if isGone(bad) {
		return nil // it was packed meanwhile
	}
	if unreadableFile(bad) {
		return bad
	}
	good, err := m.s.readable(h)
	if err != nil {
		return err
	}
	path := m.s.loosePath(h)
	if !good {
		m.add(path, bad, "", []plumbing.Hash{h})
		return nil
	}
	if err := ignoreNotExist(m.s.fs.Remove(path)); err != nil {
		return err
	}
	m.add(path, bad, "there is a good copy: it was removed", nil)
	return nil
}
