package courier

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/replica"
)

// watched is the hub, and the watch over the spaces that are linked to it.
type watched struct {
	*replica.Hub
	// spaces tells the machine which spaces the hub offers, each time the
	// watch begins, so that one granted later is linked by itself.
	spaces func(context.Context, []hubwire.SpaceInfo)
	again  context.CancelFunc // ends the watch so that it begins anew; nil while none runs
}

// UseHub lets the courier watch the hub. offered is called with the spaces
// that the hub offers whenever the watch begins. The courier closes the hub.
func (c *Courier) UseHub(h *replica.Hub, offered func(context.Context, []hubwire.SpaceInfo)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hub = &watched{Hub: h, spaces: offered}
	if c.started {
		c.watch()
	}
}

// Hub is the hub in use, nil for none.
func (c *Courier) Hub() *replica.Hub {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hub == nil {
		return nil
	}
	return c.hub.Hub
}

// watch starts the watch, or lets it begin anew with the links of now. Called
// with mu held.
func (c *Courier) watch() {
	if c.hub == nil {
		return
	}
	if c.hub.again != nil {
		c.hub.again()
		return
	}
	hub := c.hub
	ctx, again := context.WithCancel(c.ctx)
	hub.again = again
	c.done.Go(func() { c.keepWatching(ctx, hub) })
}

// keepWatching watches until the courier stops.
func (c *Courier) keepWatching(ctx context.Context, hub *watched) {
	var b backoff
	for c.ctx.Err() == nil {
		began := time.Now()
		err := c.watchOnce(ctx, hub)
		if c.ctx.Err() != nil {
			return
		}
		if ctx.Err() != nil { // the links changed
			c.mu.Lock()
			ctx, hub.again = context.WithCancel(c.ctx)
			c.mu.Unlock()
			continue
		}
		c.log.Info("watch of the hub ended", "err", err)
		if time.Since(began) > eager {
			b.reset()
		}
		pause(ctx, b.next(time.Now()))
	}
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

var errResync = errors.New("the hub left out changes")

func (c *Courier) watchOnce(ctx context.Context, hub *watched) error {
	offered, err := hub.Spaces(ctx)
	if err != nil {
		return err
	}
	hub.spaces(ctx, offered)
	names := c.hubSpaces(offered)
	if len(names) == 0 {
		<-ctx.Done() // a link will come
		return ctx.Err()
	}
	return hub.Watch(ctx, names, func(l hubwire.Line) error {
		if mark, ok := hubwire.ParsePolicyMark(l.Policy); ok {
			if err := c.memory.Told(ctx, hubwire.Told{Policy: mark, Roster: l.Roster}); err != nil {
				return err
			}
		}
		switch {
		case l.Resync:
			return errResync
		case l.Hello != nil:
			for space, refs := range l.Hello {
				c.announce(space, refs[event.MainRef])
				c.announce(space, refs[eventlog.EpochRef])
				c.Saved(space) // the hub is back: what waits can go
			}
		case l.Ref == event.MainRef, l.Ref == eventlog.EpochRef:
			c.announce(l.Space, l.New)
		}
		return nil
	})
}

// hubSpaces are the linked spaces that the hub lets this machine read.
func (c *Courier) hubSpaces(offered []hubwire.SpaceInfo) []string {
	var names []string
	for _, l := range c.Links("", "") {
		readable := slices.ContainsFunc(offered, func(s hubwire.SpaceInfo) bool { return s.Name == l.Remote.Space })
		if l.Remote.Hub && readable {
			names = append(names, l.Remote.Space)
		}
	}
	return names
}

func (c *Courier) announce(space, head string) {
	if !plumbing.IsHash(head) {
		return
	}
	for _, l := range c.Links(space, "") {
		if l.Remote.Hub {
			l.announced(plumbing.NewHash(head))
		}
	}
}
