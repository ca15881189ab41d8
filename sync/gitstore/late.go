package gitstore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"

	"cairn/sync/gitstore/internal/packfmt"
)

// What is in this file, and in settle.go, is for a writer that keeps what it writes in a write-ahead log of its own, and so
// need not wait until packs and refs are durable: after a power cut it makes them again. Everything else in this package
// waits for the disk.

// A LatePack is a pack that Store makes visible but not durable. It holds all of its objects, whether or not they are
// stored elsewhere: what is stored there may be just as late. It is not safe for concurrent use.
type LatePack struct {
	s     *Store
	draft *packDraft
	bytes bytes.Buffer
	objs  []Object
}

// NewLatePack makes a pack of objs in memory, of which none comes twice. Nothing is written yet.
func (s *Store) NewLatePack(objs []Object) (*LatePack, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	p := &LatePack{s: s, draft: &packDraft{s: s, late: true}, objs: objs}
	if err := p.encode(); err != nil {
		return nil, fmt.Errorf("make a pack of %d objects: %w", len(objs), err)
	}
	return p, nil
}

func (p *LatePack) encode() error {
	w, err := packfmt.NewWriter(&p.bytes, uint32(len(p.objs)), p.s.level)
	if err != nil {
		return err
	}
	w.SetLevel(zlib.NoCompression) // in a moment RewritePack makes small of many what would take long for each
	for _, o := range p.objs {
		if err := w.Object(o.Hash, o.Type, o.Data); err != nil {
			return err
		}
	}
	p.draft.sum, p.draft.entries, err = w.Finish()
	p.draft.size = w.Offset()
	return err
}

// ID is the checksum that gives the pack its name, pack-ID.
func (p *LatePack) ID() plumbing.Hash { return p.draft.sum }

// Store makes the pack visible to every process. Like one of WritePack it is kept from stock git's garbage collection until
// the next update of a ref, or Unlock. It may be called once. After an error RemovePacks takes back what there is of it.
func (p *LatePack) Store() error {
	if err := p.s.alive(); err != nil {
		return err
	}
	if err := p.store(); err != nil {
		return fmt.Errorf("write a pack of %d objects: %w", len(p.objs), err)
	}
	return nil
}

// Begun reports whether Store got so far that there may be something for RemovePacks to take back.
func (p *LatePack) Begun() bool { return p.draft.named }

func (p *LatePack) store() error {
	if err := p.write(); err != nil {
		return errors.Join(err, p.draft.discard())
	}
	stored, err := p.draft.publish()
	if err != nil {
		return err
	}
	p.s.remember(stored, p.objs)
	return nil
}

func (p *LatePack) write() error {
	if err := p.draft.create(p.s.path("objects", "pack")); err != nil {
		return err
	}
	if _, err := p.draft.pack.Write(p.bytes.Bytes()); err != nil {
		return err
	}
	return p.draft.writeIndex()
}

// UpdateRefLater is UpdateRef, except that the change becomes durable at SettleRef. A power cut before that may leave the
// ref as it was, or its file empty or full of zeros.
func (s *Store) UpdateRefLater(name string, old, new plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.changeRef(name, old, new, (*pendingFile).commitLater)
}
