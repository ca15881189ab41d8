package gitstore

import (
	"bufio"
	"fmt"
	"io"

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
	seen := make(map[plumbing.Hash]bool, len(ids))
	list := make([]wanted, 0, len(ids))
	for _, h := range ids {
		if seen[h] {
			continue
		}
		seen[h] = true
		x := wanted{hash: h}
		err := s.search(h, func(c storedCopy) error {
			x.at = c
			return s.confirm(c, h)
		})
		if err != nil {
			return nil, fmt.Errorf("object %s: %w", h, err)
		}
		list = append(list, x)
	}
	sortWanted(list)
	return list, nil
}
