package gitstore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// EncodePack writes a pack stream of exactly the objects with the given ids to w; one that is named twice is sent once. It
// is no thin pack: every delta's base is in it. If an object is missing the error is plumbing.ErrObjectNotFound, and unless
// it vanished a moment ago nothing has been written.
func (s *Store) EncodePack(w io.Writer, ids []plumbing.Hash) error {
	if err := s.alive(); err != nil {
		return err
	}
	list, err := s.locate(ids)
	if err != nil {
		return fmt.Errorf("encode a pack: %w", err)
	}
	if err := s.encode(w, list); err != nil {
		return fmt.Errorf("encode a pack: %w", err)
	}
	return nil
}

func (s *Store) encode(w io.Writer, list []wanted) error {
	buf := bufio.NewWriterSize(w, 64<<10)
	pw, err := packfmt.NewWriter(buf, uint32(len(list)), s.level)
	if err != nil {
		return err
	}
	c := copier{w: pw, load: s.Object}
	if err := c.copyAll(list); err != nil {
		return err
	}
	if _, _, err := pw.Finish(); err != nil {
		return err
	}
	return buf.Flush()
}

// locate finds each of ids once and sorts them for copying.
func (s *Store) locate(ids []plumbing.Hash) ([]wanted, error) {
	left := slices.Clone(ids)
	slices.SortFunc(left, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	left = slices.Compact(left)
	list := make([]wanted, 0, len(left))
	err := s.packs.each(func(p *pack) bool {
		list, left = takeFrom(p, list, left)
		return len(left) == 0
	})
	if err != nil {
		return nil, err
	}
	for _, h := range left {
		x, err := s.locateOne(h)
		if err != nil {
			return nil, fmt.Errorf("object %s: %w", h, err)
		}
		list = append(list, x)
	}
	sortWanted(list)
	return list, nil
}

// takeFrom moves the ids that p holds from left to list. What p does not hold, or will not say, stays in left.
func takeFrom(p *pack, list []wanted, left []plumbing.Hash) ([]wanted, []plumbing.Hash) {
	if p.open() != nil {
		return list, left
	}
	find := p.index.Entry
	if len(left) > p.index.Count()/worthListing {
		if entries, err := p.index.Entries(); err == nil {
			find = finderIn(entries)
		}
	}
	rest := left[:0]
	for _, h := range left {
		if e, ok, err := find(h); err == nil && ok {
			list = append(list, wanted{h, storedCopy{p, e.Offset}, e.CRC})
		} else {
			rest = append(rest, h)
		}
	}
	return list, rest
}

// finderIn is an index's Entry for many ids in rising order.
func finderIn(entries []packfmt.IndexEntry) func(plumbing.Hash) (packfmt.IndexEntry, bool, error) {
	return func(h plumbing.Hash) (e packfmt.IndexEntry, ok bool, err error) {
		for len(entries) > 0 {
			switch c := bytes.Compare(entries[0].Hash[:], h[:]); {
			case c == 0:
				return entries[0], true, nil
			case c > 0:
				return e, false, nil
			}
			entries = entries[1:]
		}
		return e, false, nil
	}
}

// locateOne finds an object that is in no pack we know of.
func (s *Store) locateOne(h plumbing.Hash) (wanted, error) {
	x := wanted{hash: h}
	err := s.search(h, func(c storedCopy) error {
		x.at = c
		return s.confirm(c, h)
	})
	if err != nil || x.at.pack == nil {
		return x, err
	}
	e, _, err := x.at.pack.index.Entry(h)
	x.crc = e.CRC
	return x, err
}

// IDs returns the ids of all objects that are stored, each once, in rising order.
func (s *Store) IDs() ([]plumbing.Hash, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	ids, err := s.ids()
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	slices.SortFunc(ids, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), nil
}

// ids lists loose objects before packs, lest one that is being packed at this moment be in neither place.
func (s *Store) ids() ([]plumbing.Hash, error) {
	ids, err := s.looseIDs()
	if err != nil {
		return nil, err
	}
	if _, err := s.packs.refresh(); err != nil {
		return nil, err
	}
	packs, err := s.packs.all()
	if err != nil {
		return nil, err
	}
	for _, p := range packs {
		if err := p.open(); err != nil {
			return nil, err
		}
		entries, err := p.index.Entries()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			ids = append(ids, e.Hash)
		}
	}
	return ids, nil
}
