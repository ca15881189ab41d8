package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore/internal/packfmt"
)

// Places are where git keeps a push that waits for a verdict, as it tells its hooks.
type Places struct {
	Repo       string   // the bare repository
	Quarantine string   // the folder with the objects that arrived
	Stored     []string // folders with objects that were there before, besides the repository's own
}

// An Inbox is what git's receive-pack has received and not made part of a repository yet. It is only read: git keeps or
// drops it, as the hook says. It holds what arrived and was not stored before; git adds stored objects to a pack that
// counts on them, and those are left aside.
//
// An Inbox is safe for concurrent use, Include and Close excepted.
type Inbox struct {
	repo   *Store
	stored layers // repo among them
	folder *Store // the quarantine
	lim    Limits

	packs []*received
	loose []plumbing.Hash
	place map[plumbing.Hash]int // of loose and then more
	more  []plumbing.Hash       // what Include added
	known map[plumbing.Hash]bool
	size  Limits // what arrived so far comes to; only packs count as Objects
}

// OpenInbox reads the tables of all that arrived, and every pack once: it holds sizes and numbers against lim before it
// takes memory for them, checks every checksum, and hashes each object with detection of SHA-1 collision attacks. A file
// in quarantine that git would not put there is refused.
//
// Errors: *LimitError, *BadPackError, those of Open (but for a repository that borrows objects, which is as good as
// another here), ctx's and the file system's. The caller closes the Inbox.
func OpenInbox(ctx context.Context, fsys disk.FS, at Places, lim Limits) (*Inbox, error) {
	s := newStore(fsys, at.Repo)
	s.borrows = true
	b := &Inbox{
		repo: s, stored: layers{s}, folder: folderOf(fsys, at.Quarantine), lim: lim.withDefaults(),
		place: map[plumbing.Hash]int{}, known: map[plumbing.Hash]bool{},
	}
	if err := b.open(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("look at a push to %s: %w", at.Repo, err), b.Close())
	}
	return b, nil
}

func (b *Inbox) open(ctx context.Context, at Places) (err error) {
	if err := b.repo.check(); err != nil {
		return err
	}
	if b.stored, err = b.repo.borrow(at.Stored); err != nil {
		b.stored = layers{b.repo}
		return err
	}
	packs, err := b.list()
	if err != nil {
		return err
	}
	for _, base := range packs {
		if err := b.readPack(ctx, base); err != nil {
			return err
		}
	}
	return b.measureLoose(ctx)
}

// readPack takes in the table of one pack.
func (b *Inbox) readPack(ctx context.Context, base string) (err error) {
	f, err := disk.Open(b.folder.fs, base+".pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in := newPackReader(f, io.Discard, b.left())
	table, err := in.readPack(ctx)
	if err != nil {
		return in.blame(err)
	}
	if in.offset != info.Size() {
		return &BadPackError{Offset: in.offset, Err: errors.New("more follows the end of the pack")}
	}
	p := &pack{files: &b.folder.files, fs: b.folder.fs, base: base, size: in.offset}
	rec := &received{pack: p, table: table, lim: b.left()}
	if err := rec.resolve(ctx, b.repo); err != nil {
		return errors.Join(err, p.drop())
	}
	b.packs = append(b.packs, rec)
	b.size.Bytes += in.offset
	b.size.Objects += len(table.list)
	b.size.Inflated += in.inflated
	return b.leaveKnown(table)
}

// left is what the limits leave for the rest. A limit that is used up is not one that is not set.
func (b *Inbox) left() Limits {
	l := b.lim
	l.Bytes = max(l.Bytes-b.size.Bytes, 1)
	l.Objects = max(l.Objects-b.size.Objects, 0)
	l.Inflated = max(l.Inflated-b.size.Inflated, 1)
	return l
}

// leaveKnown notes which objects of a pack were stored before.
func (b *Inbox) leaveKnown(t *arrivals) error {
	for _, s := range b.stored {
		if _, err := s.packs.refresh(); err != nil {
			return err
		}
	}
	for _, n := range t.order {
		for _, s := range b.stored {
			stored, err := s.hasKnown(t.list[n].hash)
			if err != nil {
				return err
			}
			if stored {
				b.known[t.list[n].hash] = true
				break
			}
		}
	}
	return nil
}

// measureLoose holds the loose objects against the limits, by what their heads say.
func (b *Inbox) measureLoose(ctx context.Context) error {
	if err := b.lim.checkCount(uint32(min(int64(b.size.Objects)+int64(len(b.loose)), math.MaxUint32))); err != nil {
		return err
	}
	for _, h := range b.loose {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := b.folder.fs.Stat(b.folder.loosePath(h))
		if err != nil {
			return err
		}
		if b.size.Bytes += info.Size(); b.size.Bytes > b.lim.Bytes {
			return &LimitError{What: "it is too long", Limit: b.lim.Bytes}
		}
		if info.Size() > packfmt.StreamBound(b.lim.ObjectSize+looseHead) {
			return b.lim.checkSize(info.Size())
		}
		_, size, err := b.folder.looseSize(h)
		if err != nil {
			return fmt.Errorf("read received object %s: %w", h, err)
		}
		if err := b.lim.checkSize(size); err != nil {
			return err
		}
		if b.size.Inflated += size; b.size.Inflated > b.lim.Inflated {
			return b.lim.checkInflated(b.size.Inflated)
		}
	}
	return nil
}

// Repo is the repository. It is to be read only, and closed by Close.
func (b *Inbox) Repo() *Store { return b.repo }

// Size is what arrived comes to: bytes, objects, and how much they inflate to.
func (b *Inbox) Size() Limits {
	return Limits{Bytes: b.size.Bytes, Objects: b.size.Objects + len(b.loose), Inflated: b.size.Inflated}
}

// Stored reads what was there before, also what the repository borrows. It has the repository's commit-graph file.
func (b *Inbox) Stored() interface {
	Reader
	CommitGraph() ([]byte, error)
} {
	return b.stored
}

// Include makes objects that were stored before count as arrived, for whatever leads to them anew.
func (b *Inbox) Include(stored ...plumbing.Hash) {
	for _, h := range stored {
		if _, ok := b.Number(h); !ok {
			b.place[h] = len(b.loose) + len(b.more)
			b.more = append(b.more, h)
		}
	}
}

// Number reports whether the object with id h arrived, and gives each that did a number of its own.
func (b *Inbox) Number(h plumbing.Hash) (int, bool) {
	if n, ok := b.place[h]; ok {
		return b.size.Objects + n, true // those in packs come first
	}
	_, n, ok := b.packed(h)
	return n, ok
}

// packed finds an object that arrived in a pack.
func (b *Inbox) packed(h plumbing.Hash) (in *received, number int, ok bool) {
	if b.known[h] {
		return nil, 0, false
	}
	first := 0
	for _, rec := range b.packs {
		if n, ok := rec.table.find(h); ok {
			return rec, first + int(n), true
		}
		first += len(rec.table.list)
	}
	return nil, 0, false
}

// Object returns the object with id h, from what arrived or else from what was stored.
func (b *Inbox) Object(h plumbing.Hash) (Object, error) {
	n, listed := b.place[h]
	if listed && n < len(b.loose) {
		return b.readLoose(h)
	}
	if rec, _, ok := b.packed(h); ok && !listed {
		return b.fromPack(rec, h)
	}
	return b.stored.Object(h)
}

func (b *Inbox) fromPack(rec *received, h plumbing.Hash) (Object, error) {
	n, _ := rec.table.find(h)
	o, err := b.folder.load(b.folder.cache, storedCopy{rec.pack, rec.table.list[n].offset}, h)
	if err != nil {
		return Object{}, fmt.Errorf("read received object %s: %w", h, err)
	}
	return o, nil
}

// readLoose reads a loose object as one that somebody sent.
func (b *Inbox) readLoose(h plumbing.Hash) (Object, error) {
	o, err := b.folder.loadLoose(h)
	if err == nil {
		_, err = hashReceived(o.Type, o.Data)
	}
	if err != nil {
		return Object{}, fmt.Errorf("read received object %s: %w", h, err)
	}
	return o, nil
}

// Has reports whether the object with id h arrived or was stored before.
func (b *Inbox) Has(h plumbing.Hash) (bool, error) {
	if _, ok := b.Number(h); ok {
		return true, nil
	}
	return b.stored.Has(h)
}

// Each calls fn with every object that arrived, each once, in no particular order. It stops at the first error and
// returns it.
func (b *Inbox) Each(ctx context.Context, fn func(Object) error) error {
	for _, list := range [][]plumbing.Hash{b.loose, b.more} {
		for _, h := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			o, err := b.Object(h)
			if err != nil {
				return err
			}
			if err := fn(o); err != nil {
				return err
			}
		}
	}
	for _, rec := range b.packs {
		err := rec.each(ctx, b.repo, func(o Object) error {
			in, _, ok := b.packed(o.Hash)
			if _, listed := b.place[o.Hash]; listed || !ok || in != rec {
				return nil // it was stored before, or comes from elsewhere
			}
			return fn(o)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close releases what the Inbox holds.
func (b *Inbox) Close() error {
	errs := []error{b.stored.close()}
	for _, rec := range b.packs {
		errs = append(errs, rec.pack.drop())
	}
	return errors.Join(append(errs, b.folder.Close())...)
}

// list notes the loose objects in quarantine, and returns the paths of the packs without extension.
func (b *Inbox) list() ([]string, error) {
	l := quarantineList{dir: b.folder.objects, fs: b.folder.fs, packs: map[string]bool{}, indexes: map[string]bool{}}
	if err := l.read(); err != nil {
		return nil, err
	}
	for _, h := range l.loose {
		b.place[h] = len(b.loose)
		b.loose = append(b.loose, h)
	}
	var bases []string
	for stem := range l.packs {
		if !l.indexes[stem] {
			return nil, l.strange()
		}
		bases = append(bases, filepath.Join(l.dir, "pack", stem))
	}
	if len(l.indexes) != len(l.packs) {
		return nil, l.strange()
	}
	return bases, nil
}
