package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/sync/gitstore/internal/packfmt"
)

const (
	// compactAt is how many packs must be too small before it is worth joining them.
	compactAt = 64
	// compactRatio is by what factor a pack must outweigh all smaller ones together to be left alone. So each object is
	// rewritten about once for every time the repository grows by that factor.
	compactRatio = 2
)

// CompactStats says what Compact did.
type CompactStats struct {
	Packs   int   // that were joined; 0 if there was no need
	Objects int   // in the new pack
	Before  int64 // bytes of the packs that were joined
	After   int64 // bytes of the new pack
	Damaged int   // packs that were left alone because an object in them could not be read
	Left    int   // packs that were joined and could not be removed, as on Windows while another process reads them
}

// Compact joins small packs into a larger one if there are many of them. Everything that is stored stays stored, whether
// or not a ref leads to it, and readers find it at every moment. It may take long and be canceled at any time; it takes
// the append lock only at the end, to exchange the packs, so the caller must not hold it.
func (s *Store) Compact(ctx context.Context) (CompactStats, error) {
	return s.compact(ctx, compactAt)
}

// compact joins packs if at least threshold of them are too small.
func (s *Store) compact(ctx context.Context, threshold int) (CompactStats, error) {
	if err := s.alive(); err != nil {
		return CompactStats{}, err
	}
	stats, err := s.tryCompact(ctx, threshold)
	if err != nil {
		return stats, fmt.Errorf("compact repository %s: %w", s.dir, err)
	}
	return stats, nil
}

func (s *Store) tryCompact(ctx context.Context, threshold int) (CompactStats, error) {
	small, err := s.smallPacks()
	if err != nil || len(small) < max(2, threshold) {
		return CompactStats{}, err
	}
	var stats CompactStats
	for len(small) > 1 {
		draft, err := s.join(ctx, small)
		if bad, ok := errors.AsType[*copyError](err); ok {
			small = slices.DeleteFunc(small, func(p *pack) bool { return p == bad.pack })
			stats.Damaged++
			continue
		}
		if err != nil {
			return stats, err
		}
		err = s.exchange(ctx, draft, small, &stats)
		return stats, err
	}
	return stats, nil
}

// smallPacks returns the packs that are too small: sorted by size, all up to the last one that does not outweigh the
// smaller ones together by compactRatio.
func (s *Store) smallPacks() ([]*pack, error) {
	if _, err := s.packs.refresh(); err != nil {
		return nil, err
	}
	all, err := s.packs.all()
	if err != nil {
		return nil, err
	}
	var movable []*pack
	for _, p := range all {
		protected, err := s.isProtected(p)
		if err != nil {
			return nil, err
		}
		if !protected && p.open() == nil { // one that is damaged is left for a doctor to look at
			movable = append(movable, p)
		}
	}
	slices.SortFunc(movable, func(a, b *pack) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.base, b.base))
	})
	small, sum := 0, int64(0)
	for i, p := range movable {
		if p.size < compactRatio*sum {
			small = i + 1
		}
		sum += p.size
	}
	return movable[:small], nil
}

// isProtected reports whether somebody wants a pack to stay: .keep says so, .mtimes marks one that git manages itself.
func (s *Store) isProtected(p *pack) (bool, error) {
	for _, ext := range []string{".keep", ".mtimes"} {
		_, err := s.fs.Stat(p.base + ext)
		if err == nil || !isGone(err) {
			return true, err
		}
	}
	return false, nil
}

// join writes everything in packs into one new pack that is not published yet.
func (s *Store) join(ctx context.Context, packs []*pack) (*packDraft, error) {
	list, err := contents(packs)
	if err != nil {
		return nil, err
	}
	trees, err := s.collectTrees(ctx, list)
	if err != nil {
		return nil, err
	}
	return s.draftPack(s.path("objects", "pack"), len(list), func(w *packfmt.Writer) error {
		c := copier{w: w, load: s.Object, pause: ctx.Err}
		if err := c.placeTrees(trees); err != nil {
			return err
		}
		return c.copyAll(list)
	})
}

// contents returns all objects in packs, sorted for copying; one that is in several is taken from one of them.
func contents(packs []*pack) ([]wanted, error) {
	var list []wanted
	for _, p := range packs {
		entries, err := p.index.Entries()
		if err != nil {
			return nil, &copyError{p, err}
		}
		for _, e := range entries {
			list = append(list, wanted{e.Hash, storedCopy{p, e.Offset}, e.CRC})
		}
	}
	slices.SortFunc(list, func(a, b wanted) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(packName(a.at.pack), packName(b.at.pack)))
	})
	list = slices.CompactFunc(list, func(a, b wanted) bool { return a.hash == b.hash })
	sortWanted(list)
	return list, nil
}
