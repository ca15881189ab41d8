package sshdoor

import (
	"sync/atomic"
	"time"
)

// tally counts what becomes of connections.
type tally struct{ accepted, refused, dropped, unopened, received, sent atomic.Uint64 }

// A Tally is what a door has seen since it was made.
type Tally struct {
	Accepted uint64 // connections that might try to log in
	Refused  uint64 // that were turned away before that
	Dropped  uint64 // that the door ended: silent, stuck, or no longer welcome
	Unopened uint64 // sessions that were refused: too many on a connection, or no room
	Received uint64 // bytes, as they come over the network
	Sent     uint64
	Open     int   // connections now
	Sessions int   // commands that run now
	Slowed   int   // people whose sessions wait, because of what was refused
	Room     int64 // bytes that clients may have sent and no command has read
}

// Tally counts up to now.
func (d *Door) Tally() Tally {
	t := Tally{
		Accepted: d.tally.accepted.Load(), Refused: d.tally.refused.Load(), Dropped: d.tally.dropped.Load(),
		Unopened: d.tally.unopened.Load(), Received: d.tally.received.Load(), Sent: d.tally.sent.Load(), Room: d.room.taken(), Slowed: d.brake.count(time.Now()),
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Open = len(d.visitors)
	for v := range d.visitors {
		t.Sessions += v.sessions
	}
	return t
}
