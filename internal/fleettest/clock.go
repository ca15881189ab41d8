package fleettest

import (
	"sync/atomic"
	"time"
)

// A Clock goes as fast as the system's and may be set apart from it. The zero
// value is right. It is safe for concurrent use.
type Clock struct{ ahead atomic.Int64 }

// Now is what it shows.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Set sets it ahead of the system's clock by so much, or behind.
func (c *Clock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }
