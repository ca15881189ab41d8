package gitstore

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// maxSnapshot is of how many packs a Snapshot can be taken: each is a file held open.
const maxSnapshot = 256

// ErrScattered means that the packs cannot be taken as they are: there are too many, or one is damaged. Take the objects
// one by one.
var ErrScattered = errors.New("there are too many packs, or one is damaged")

// A Snapshot is all packs of a repository at one moment, held open so that they can be sent as they are, whatever
// becomes of them meanwhile. Loose objects are no part of it.
type Snapshot struct {
	s     *Store
	packs []*pack
	files []*handle // of the packs
	tally Tally
}

// Snapshot takes one of the packs there are now. The caller closes it. Errors: ErrScattered, and those of the file
// system.
func (s *Store) Snapshot() (*Snapshot, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	n := &Snapshot{s: s}
	if err := n.take(); err != nil {
		return nil, errors.Join(fmt.Errorf("take a snapshot of the packs: %w", err), n.Close())
	}
	return n, nil
}

func (n *Snapshot) take() error {
	if _, err := n.s.packs.refresh(); err != nil {
		return err
	}
	packs, err := n.s.packs.all()
	if err != nil {
		return err
	}
	if len(packs) > maxSnapshot {
		return ErrScattered
	}
	for _, p := range packs {
		if p.spoiled.Load() {
			return ErrScattered
		}
		if err := p.open(); err != nil {
			return err
		}
		t, err := p.count()
		if err != nil {
			return err
		}
		f, err := n.s.files.get(p.packPath())
		if err != nil {
			return err
		}
		n.packs, n.files = append(n.packs, p), append(n.files, f)
		n.tally.Join(t)
	}
	return nil
}

// Tally sums up the objects in the packs. One that is in two of them counts twice.
func (n *Snapshot) Tally() Tally { return n.tally }

// Close releases the packs.
func (n *Snapshot) Close() error {
	var errs []error
	for _, f := range n.files {
		errs = append(errs, n.s.files.put(f))
	}
	n.files = nil
	return errors.Join(errs...)
}

// Encode writes one pack of all the objects: the packs one behind the other, as they are. A delta names its base by how
// far before it that stands, or by id, and both stay true. If a pack turns out to be damaged, what was written is of no
// use, and the next Snapshot is ErrScattered.
func (n *Snapshot) Encode(ctx context.Context, w io.Writer) error {
	if err := n.encode(ctx, w); err != nil {
		return fmt.Errorf("send the packs as they are: %w", err)
	}
	return nil
}

func (n *Snapshot) encode(ctx context.Context, w io.Writer) error {
	sum := sha1.New()
	buf := bufio.NewWriterSize(w, 64<<10)
	out := io.MultiWriter(buf, sum)
	if _, err := out.Write(packfmt.AppendFileHeader(nil, uint32(n.tally.Objects))); err != nil {
		return err
	}
	for i, p := range n.packs {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := p.copyBody(out, n.files[i].file)
		if errors.Is(err, packfmt.ErrMalformed) {
			p.spoiled.Store(true)
		}
		if err != nil {
			return err
		}
	}
	if _, err := buf.Write(sum.Sum(nil)); err != nil {
		return err
	}
	return buf.Flush()
}

// count sums up the pack's objects. The pack must be open.
func (p *pack) count() (Tally, error) {
	if t := p.tally.Load(); t != nil {
		return *t, nil
	}
	var t Tally
	err := p.index.Hashes(func(h plumbing.Hash) { t.Add(h) })
	if err != nil {
		return Tally{}, fmt.Errorf("count the objects of %s: %w", p.packPath(), err)
	}
	p.tally.Store(&t)
	return t, nil
}
