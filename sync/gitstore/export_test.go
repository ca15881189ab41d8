package gitstore

import (
	"context"
	"math"
	"time"
)

// WithRefWait makes a test's wait for another program's ref lock as short as it likes.
func WithRefWait(d time.Duration) Option { return func(s *Store) { s.refWait = d } }

// CompactAt is Compact with a threshold of its own.
func (s *Store) CompactAt(ctx context.Context, packs int) (CompactStats, error) {
	c := usualCompaction
	c.packs = packs
	return s.compact(ctx, c)
}

// CompactHasty is Compact that minds so many bytes of hasty packs, and no number of packs.
func (s *Store) CompactHasty(ctx context.Context, bytes int64) (CompactStats, error) {
	c := usualCompaction
	c.packs, c.hasty = math.MaxInt, bytes
	return s.compact(ctx, c)
}

// JoinAt is Compact for which all packs of that size are large ones.
func (s *Store) JoinAt(ctx context.Context, bytes int64) (CompactStats, error) {
	c := usualCompaction
	c.packs, c.join = math.MaxInt, bytes
	return s.compact(ctx, c)
}

// JoinAll joins all packs as they are, whatever they are.
func (s *Store) JoinAll(ctx context.Context) (CompactStats, error) {
	var stats CompactStats
	packs, err := s.movable()
	if err != nil {
		return stats, err
	}
	return stats, s.replace(ctx, packs, s.join, &stats)
}
