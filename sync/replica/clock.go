package replica

import (
	"context"
	"time"

	"cairn/internal/hubwire"
)

// A reading is what the hub's clock said at a moment here. Time since then is
// measured by the monotonic clock, so that it stays true when somebody sets
// the clock of this machine.
type reading struct {
	hub  time.Time
	here time.Time
}

// Clock is the hub's clock, and how long ago it was read; false if it was not
// read on the present connection.
func (h *Hub) Clock() (now time.Time, age time.Duration, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.here.IsZero() {
		return time.Time{}, 0, false
	}
	age = time.Since(h.clock.here)
	return h.clock.hub.Add(age), age, true
}

// ReadClock asks for the hub's clock.
func (h *Hub) ReadClock(ctx context.Context) error {
	_, err := h.Whoami(ctx)
	return err
}

// Whoami is who the hub takes this machine for.
func (h *Hub) Whoami(ctx context.Context) (w hubwire.Whoami, err error) {
	asked := time.Now()
	err = h.askJSON(ctx, hubwire.CmdWhoami, nil, &w)
	if err != nil || w.Time.IsZero() {
		return w, err
	}
	answered := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock = reading{hub: w.Time.Add(answered.Sub(asked) / 2), here: answered}
	return w, nil
}
