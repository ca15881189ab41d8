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

// Receive is Arrive and Resolve, one after the other.
func (q *Quarantine) Receive(ctx context.Context, r io.Reader, lim Limits) error {
	if err := q.Arrive(ctx, r, lim); err != nil {
		return err
	}
	return q.Resolve(ctx)
}

// Arrive reads one pack from r into the quarantine, exactly to its end: what follows the pack stays in r. It checks every
// checksum and what is declared. None of the pack's objects is there before Resolve.
//
// It may be called once. Errors: *LimitError, *BadPackError, those of r, of ctx and of the file system. After an error the
// only thing to do is Discard.
func (q *Quarantine) Arrive(ctx context.Context, r io.Reader, lim Limits) error {
	if err := q.usable(); err != nil {
		return err
	}
	if q.received != nil || q.arrived != nil {
		return fmt.Errorf("%w: it has received a pack", ErrQuarantine)
	}
	arrived, err := q.arrive(ctx, r, lim.withDefaults())
	if err != nil {
		return fmt.Errorf("receive a pack: %w", err)
	}
	q.arrived = arrived
	return nil
}

// Resolve makes the objects of the pack that has arrived: it rebuilds every one, also from bases that only the store has,
// and hashes each with detection of SHA-1 collision attacks. It does not judge what the objects say, nor whether what they
// refer to exists. Waiting before it costs nothing but the pack's file and a word of memory for each object.
//
// It may be called once, after Arrive. Errors: *LimitError, *BadPackError, those of ctx and of the file system. After an
// error the only thing to do is Discard.
func (q *Quarantine) Resolve(ctx context.Context) error {
	if err := q.usable(); err != nil {
		return err
	}
	if q.arrived == nil {
		return fmt.Errorf("%w: no pack has arrived", ErrQuarantine)
	}
	rec := q.arrived
	q.arrived = nil
	err := rec.resolve(ctx, q.s)
	if err == nil {
		err = rec.writeIndex()
	}
	if err != nil {
		return fmt.Errorf("receive a pack: %w", errors.Join(err, rec.close()))
	}
	q.received = rec
	return nil
}

// received is a pack in quarantine, whose objects are all known once it is resolved.
type received struct {
	files *packDraft // the pack and its index
	pack  *pack
	table *arrivals
	lim   Limits
}

func (r *received) close() error {
	return errors.Join(r.pack.drop(), r.files.close())
}

func (q *Quarantine) arrive(ctx context.Context, r io.Reader, lim Limits) (_ *received, err error) {
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
	draft.sum = in.sum
	p := &pack{files: &q.s.files, fs: q.s.fs, base: base, size: in.offset}
	return &received{files: draft, pack: p, table: table, lim: lim}, nil
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
