package courier

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/intake"
	"cairn/sync/purge"
	"cairn/sync/replica"
)

// Memory is what a courier needs of the machine's memory.
type Memory interface {
	// Space is the log of a space, made if it is missing. id is the identity
	// it gets then; empty for a fresh one.
	Space(ctx context.Context, name string, id event.ID) (*eventlog.Log, error)
	// Follow brings everything level after the log changed.
	Follow(ctx context.Context, space string) error
	// Admit and Raw judge what arrives, from a hub or from any repository.
	Admit(hub bool, e event.Event) []intake.Finding
	Raw(space string, kind plumbing.ObjectType, data []byte) []intake.Finding
	// Told brings what a hub says is new: its policy, its list of devices.
	Told(context.Context, hubwire.Told) error
	// Withhold keeps events out of sight that are not in the log yet, and
	// reports them.
	Withhold(ctx context.Context, space string, w []replica.Withheld) error
	// Park keeps events that a remote refused, and lists them as refused.
	Park(ctx context.Context, space string, p []replica.Parked) error
	// Left is told of parked events when they have left the log.
	Left(ctx context.Context, space string, p []replica.Parked) error
	// Pushed is the file in which the machine remembers what of a space it
	// pushed to the hub, and the disk it is on.
	Pushed(space string) (disk.FS, string)
	// Renew gives the machine a key of its own after the hub found out that
	// another copy of it goes on with the key of device. The old key stays good.
	Renew(ctx context.Context, device event.DeviceID) error
	// Purged removes what is kept beside the log of events that have left it for
	// good.
	Purged(ctx context.Context, space string, gone *purge.Set) error
	// Refusals is how such events are reported.
	Refusals([]replica.Parked) []api.Refusal
}

// pollPlain is how often a plain git remote, which cannot tell us anything, is
// looked at.
const pollPlain = 30 * time.Second

// A Courier runs the links of one machine. It is safe for concurrent use.
type Courier struct {
	memory Memory
	log    *slog.Logger
	now    func() time.Time

	ctx  context.Context // of all that runs
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	links   []*Link
	hub     *watched
	started bool
}

// New returns a courier without links; now is the machine's clock. It does
// nothing by itself before Start.
func New(memory Memory, log *slog.Logger, now func() time.Time) *Courier {
	ctx, stop := context.WithCancel(context.Background())
	return &Courier{memory: memory, log: log, now: now, ctx: ctx, stop: stop}
}

// Start lets the links run by themselves, the ones there are and later ones.
func (c *Courier) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started {
		return
	}
	c.started = true
	for _, l := range c.links {
		c.done.Go(func() { l.run(c.ctx) })
	}
	c.watch()
}

// Close stops everything and waits until it has stopped. What was not yet
// pushed stays in its log.
func (c *Courier) Close() error {
	c.stop()
	c.done.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hub == nil {
		return nil
	}
	return c.hub.Close()
}

// Add makes a link between a space and a remote, which Add takes over.
func (c *Courier) Add(ctx context.Context, at api.Remote, id event.ID, remote replica.Remote) (*Link, error) {
	log, err := c.memory.Space(ctx, at.Space, id)
	if err != nil {
		return nil, err
	}
	opt := replica.Options{
		Log: log, Remote: remote, Name: at.Name,
		Admit: func(e event.Event) []intake.Finding { return c.memory.Admit(at.Hub, e) },
		Told:  c.memory.Told,
		Raw: func(kind plumbing.ObjectType, data []byte) []intake.Finding {
			return c.memory.Raw(at.Space, kind, data)
		},
		Withhold: func(ctx context.Context, w []replica.Withheld) error { return c.memory.Withhold(ctx, at.Space, w) },
		Park:     func(ctx context.Context, p []replica.Parked) error { return c.memory.Park(ctx, at.Space, p) },
		Purged:   func(ctx context.Context, gone *purge.Set) error { return c.memory.Purged(ctx, at.Space, gone) },
	}
	l := &Link{Remote: at, memory: c.memory, log: c.log, now: c.now, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if at.Hub {
		opt.LeaseFS, opt.Lease = c.memory.Pushed(at.Space)
	} else {
		l.poll = pollPlain
	}
	l.replica = replica.New(opt)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	if c.started {
		c.done.Go(func() { l.run(c.ctx) })
		c.watch()
	}
	return l, nil
}

// Remove ends a link. What was synced stays.
func (c *Courier) Remove(space, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.links, func(l *Link) bool { return l.Remote.Space == space && l.Remote.Name == name })
	if at < 0 {
		return false
	}
	c.links[at].end()
	c.links = slices.Delete(c.links, at, at+1)
	return true
}

// Links lists the links, of one space and remote if these are given.
func (c *Courier) Links(space, name string) []*Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*Link
	for _, l := range c.links {
		if (space == "" || l.Remote.Space == space) && (name == "" || l.Remote.Name == name) {
			out = append(out, l)
		}
	}
	return out
}

// Saved tells the courier that a space has new events.
func (c *Courier) Saved(space string) {
	for _, l := range c.Links(space, "") {
		l.Wake()
	}
}
