package gitstore

import "time"

// WithRefWait makes a test's wait for another program's ref lock as short as it likes.
func WithRefWait(d time.Duration) Option { return func(s *Store) { s.refWait = d } }
