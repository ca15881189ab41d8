package chronicle

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/hub/audit"
	"cairn/hub/repository"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
)

// Options are what a Chronicle works with.
type Options struct {
	Log    *audit.Log
	Spaces *repository.Set
	Key    device.Key // of the host
	// Judge says by which version of the policy an event is judged, and whether
	// it may be seen.
	Judge func(event.Event) (policy int, ok bool)
	FS    disk.FS
	Path  string // of the file that holds how far it has come
	Now   func() time.Time
	Trace *slog.Logger
}

// A Chronicle is the writer of a hub. One process at a time may Run it; it is
// safe for concurrent use.
type Chronicle struct {
	Options

	writing sync.Mutex // guards kept
	kept    *state     // as it is on disk; nil before it was read, and after trouble

	mu      sync.Mutex // guards trouble
	trouble error      // of the last round
}

// New is a Chronicle for a hub.
func New(o Options) *Chronicle { return &Chronicle{Options: o} }

// every is how often it is looked for new records.
const every = time.Second

// Run writes until ctx ends.
func (c *Chronicle) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		c.note(ctx, c.Catch(ctx))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// note keeps how a round went, for State, and tells what is new.
func (c *Chronicle) note(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && (c.trouble == nil || c.trouble.Error() != err.Error()) {
		c.Trace.Error("write the audit events", "err", err)
	}
	c.trouble = err
}

// Catch writes every record that waits.
func (c *Chronicle) Catch(ctx context.Context) (err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	defer func() {
		if err != nil {
			c.kept = nil
		}
	}()
	at, err := c.reached()
	if err != nil {
		return err
	}
	space, err := c.Spaces.Audit(c.Now())
	if err == nil {
		err = c.isOurs(ctx, space, at)
	}
	if err != nil {
		return err
	}
	at.Space = space.Space().ID
	return c.follow(ctx, space, at)
}

// reached is how far the writer has come. This process alone writes that down,
// so it is read once.
func (c *Chronicle) reached() (state, error) {
	if c.kept != nil {
		return *c.kept, nil
	}
	at, err := load(c.FS, c.Path)
	if err == nil {
		c.kept = &at
	}
	return at, err
}

// follow writes to the space what was recorded after a place in the log.
func (c *Chronicle) follow(ctx context.Context, space *repository.Repository, at state) error {
	for {
		records, end, err := c.Log.Since(at.Place)
		if err != nil {
			return err
		}
		var list []entry
		for _, r := range records {
			list = append(list, at.take(r)...)
		}
		if len(records) == 0 {
			list = at.pass(c.Now().Add(-grace))
		}
		if len(records) == 0 && len(list) == 0 {
			return nil
		}
		at.Place = end
		if err := c.write(ctx, space, at, list); err != nil {
			return err
		}
	}
}

// write makes entries events, and only then keeps how far it has come.
func (c *Chronicle) write(ctx context.Context, space *repository.Repository, at state, list []entry) error {
	var events []event.Event
	for _, x := range list {
		e, err := c.event(at.Space, x)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	if err := space.Append(ctx, events); err != nil {
		return fmt.Errorf("write %d audit events: %w", len(events), err)
	}
	err := at.save(c.FS, c.Path)
	if err == nil {
		c.kept = &at
	}
	return err
}

// isOurs is an error if the space is not the one to write to: another's notes
// in a space of that name are not written between.
func (c *Chronicle) isOurs(ctx context.Context, space *repository.Repository, at state) error {
	if space.Space().ID == at.Space {
		return nil
	}
	return space.Events(ctx, func(b []byte) error {
		e, err := event.Decode(b)
		if err != nil || e.Actor.Device != c.Key.ID() {
			return errTaken
		}
		return nil
	})
}
