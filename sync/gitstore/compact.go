package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A compaction says when packs are worth being rewritten.
type compaction struct {
	packs int   // how many must be too small before they are folded
	hasty int64 // or how many bytes may lie in packs that were written in haste
	join  int64 // the size from which on packs are joined as they are: what their objects have in common is found by then
	large int64 // the size from which on a pack is left alone: an index has 31 bits for a place, without detours
}

var usualCompaction = compaction{packs: 64, hasty: 4 << 20, join: 8 << 20, large: 1 << 30}

// restCompaction is for a time when nobody waits. It begins with less, and yet not with so little that each note of a slow
// day is rewritten by itself.
var restCompaction = compaction{packs: 8, hasty: 256 << 10, join: usualCompaction.join, large: usualCompaction.large}

// compactRatio is by what factor a pack must outweigh all smaller ones together to be left alone. So each object is
// rewritten about once for every time the repository grows by that factor.
const compactRatio = 2

// CompactStats says what Compact did.
type CompactStats struct {
	Packs   int   // that were folded or joined; 0 if there was no need
	Objects int   // in the new packs
	Before  int64 // bytes of the packs that were replaced
	After   int64 // bytes of the new packs
	Damaged int   // packs that were left alone because an object in them could not be read
	Left    int   // packs that were joined and could not be removed, as on Windows while another process reads them
}

// Compact folds small packs into a larger one if there are many of them, and joins large ones. Everything that is stored
// stays stored, whether or not a ref leads to it, and readers find it at every moment. It may take long and be canceled at
// any time; it takes the append lock only at the end, for a moment again and again, to exchange the packs, so the caller must
// not hold it.
func (s *Store) Compact(ctx context.Context) (CompactStats, error) {
	return s.compact(ctx, usualCompaction)
}

// CompactAtRest is Compact for a time when nothing else is to do: it begins with less, and then does all there is.
func (s *Store) CompactAtRest(ctx context.Context) (CompactStats, error) {
	return s.compact(ctx, restCompaction)
}

// CompactNow is Compact however little there is to do: for whoever measures what that costs. A store in use needs it at no
// time.
func (s *Store) CompactNow(ctx context.Context) (CompactStats, error) {
	c := usualCompaction
	c.packs, c.hasty = 0, 1
	return s.compact(ctx, c)
}

func (s *Store) compact(ctx context.Context, c compaction) (CompactStats, error) {
	if err := s.alive(); err != nil {
		return CompactStats{}, err
	}
	stats, err := s.tryCompact(ctx, c)
	if err != nil {
		return stats, fmt.Errorf("compact repository %s: %w", s.dir, err)
	}
	return stats, nil
}

func (s *Store) tryCompact(ctx context.Context, c compaction) (CompactStats, error) {
	var stats CompactStats
	small, err := s.toFold(c)
	if err == nil && len(small) > 0 {
		err = s.replace(ctx, small, s.fold, &stats)
	}
	if err != nil {
		return stats, err
	}
	large, err := s.toJoin(c)
	if err != nil || len(large) < 2 {
		return stats, err
	}
	return stats, s.replace(ctx, large, s.join, &stats)
}

// replace puts what build makes of some packs in their place, without those that cannot be read.
func (s *Store) replace(ctx context.Context, packs []*pack, build func(context.Context, []*pack) (*packDraft, error), stats *CompactStats) error {
	for len(packs) > 0 {
		draft, err := build(ctx, packs)
		if bad, ok := errors.AsType[*copyError](err); ok {
			packs = slices.DeleteFunc(packs, func(p *pack) bool { return p == bad.pack })
			bad.pack.spoiled.Store(true)
			stats.Damaged++
			continue
		}
		if err != nil {
			return err
		}
		return s.exchange(ctx, draft, packs, stats)
	}
	return nil
}

// movable returns the packs that may be replaced.
func (s *Store) movable() ([]*pack, error) {
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
		// One that is damaged is left for a doctor to look at.
		if !protected && !p.spoiled.Load() && p.open() == nil {
			movable = append(movable, p)
		}
	}
	return movable, nil
}

// toFold returns the packs to be written anew object by object, or none while there are too few: those that are too small,
// and those that were written in haste, whatever their size.
func (s *Store) toFold(c compaction) ([]*pack, error) {
	movable, err := s.movable()
	if err != nil {
		return nil, err
	}
	hasty, rest := parted(movable, (*pack).isQuick)
	little, _ := parted(rest, func(p *pack) bool { return p.size < c.join })
	fold := outweighed(slices.Concat(hasty, little))
	for _, p := range hasty {
		if !slices.Contains(fold, p) {
			fold = append(fold, p)
		}
	}
	if len(fold) < max(2, c.packs) && sizeOf(hasty) < c.hasty {
		return nil, nil
	}
	return fold, nil
}

// toJoin returns the packs that are worth being joined as they are.
func (s *Store) toJoin(c compaction) ([]*pack, error) {
	movable, err := s.movable()
	if err != nil {
		return nil, err
	}
	large, _ := parted(movable, func(p *pack) bool { return p.size >= c.join && p.size < c.large && !p.isQuick() })
	return outweighed(large), nil
}

func parted(packs []*pack, is func(*pack) bool) (yes, no []*pack) {
	for _, p := range packs {
		if is(p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

func sizeOf(packs []*pack) (sum int64) {
	for _, p := range packs {
		sum += p.size
	}
	return sum
}

// outweighed returns the packs that are too small: sorted by size, all up to the last one that does not outweigh the
// smaller ones together by compactRatio.
func outweighed(packs []*pack) []*pack {
	slices.SortFunc(packs, func(a, b *pack) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.base, b.base))
	})
	small, sum := 0, int64(0)
	for i, p := range packs {
		if p.size < compactRatio*sum {
			small = i + 1
		}
		sum += p.size
	}
	return packs[:small]
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
