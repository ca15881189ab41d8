package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cairn/internal/disk"
)

// Receive reads one pack from r into the quarantine, exactly to its end: what follows the pack stays in r. It checks every
// checksum, rebuilds every object, also from bases that only the store has, and hashes each with detection of SHA-1
// collision attacks. It does not judge what the objects say, nor whether what they refer to exists.
//
// It may be called once. Errors: *LimitError, *BadPackError, those of r, of ctx and of the file system. After an error the
// only thing to do is Discard.
func (q *Quarantine) Receive(ctx context.Context, r io.Reader, lim Limits) error {
	if err := q.usable(); err != nil {
		return err
	}
	if q.received != nil {
		return fmt.Errorf("%w: it has received a pack", ErrQuarantine)
	}
	rec, err := q.receive(ctx, r, lim.withDefaults())
	if err != nil {
		return fmt.Errorf("receive a pack: %w", err)
	}
	q.received = rec
	return nil
}

// received is a pack in quarantine whose objects are all known.
type received struct {
	files *packDraft // the pack and its index
	pack  *pack
	table *arrivals
	lim   Limits
}

func (r *received) close() error {
	return errors.Join(r.pack.drop(), r.files.close())
}

func (q *Quarantine) receive(ctx context.Context, r io.Reader, lim Limits) (_ *received, err error) {
	base := filepath.Join(q.dir, "received")
	draft := &packDraft{s: q.s}
	defer func() {
		if err != nil {
			err = errors.Join(err, draft.close())
		}
	}()
	if draft.pack, err = createNew(q.s.fs, base+".pack"); err != nil {
		return nil, err
	}
	if draft.index, err = createNew(q.s.fs, base+".idx"); err != nil {
		return nil, err
	}
	in := newPackReader(r, draft.pack, lim)
	table, err := in.readPack(ctx)
	if err != nil {
		return nil, in.blame(err)
	}
	p := &pack{files: &q.s.files, fs: q.s.fs, base: base, size: in.offset}
	rec := &received{files: draft, pack: p, table: table, lim: lim}
	if err := rec.resolve(ctx, q.s); err != nil {
		return nil, errors.Join(err, p.drop())
	}
	draft.sum = in.sum
	if err := rec.writeIndex(); err != nil {
		return nil, errors.Join(err, p.drop())
	}
	return rec, nil
}

// writeIndex makes the pack readable like any other, but only for us.
func (r *received) writeIndex() error {
	r.files.entries, r.files.size = r.table.indexEntries(), r.pack.size
	if err := r.files.writeIndex(); err != nil {
		return err
	}
	if r.files.small != nil {
		return r.pack.adopt(r.files.small, r.pack.size)
	}
	index, err := r.pack.openIndex()
	if err != nil {
		return err
	}
	r.pack.index = index
	r.pack.ready.Store(true)
	return nil
}

func createNew(fsys disk.FS, path string) (disk.File, error) {
	return fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
}
