package gitstore

import (
	"context"
	"time"
)

// WithRefWait makes a test's wait for another program's ref lock as short as it likes.
func WithRefWait(d time.Duration) Option { return func(s *Store) { s.refWait = d } }

// CompactAt is Compact with a threshold of its own.
func (s *Store) CompactAt(ctx context.Context, packs int) (CompactStats, error) {
	return s.compact(ctx, packs)
}
