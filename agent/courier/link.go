package courier

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/sync/replica"
)

// A Link is one space and one remote, and what is known of their exchange.
type Link struct {
	Remote  api.Remote
	replica *replica.Replica
	memory  Memory
	log     *slog.Logger
	now     func() time.Time
	poll    time.Duration // how often to look without being told; 0 is never

	wake  chan struct{}
	ended chan struct{} // closed by end

	mu     sync.Mutex
	state  State
	behind bool // the remote has announced a head that we have not pulled
}

// State is how the exchange of a link stands.
type State struct {
	LastSync time.Time // of the last exchange that ended well; zero before the first
	Err      error     // of the last exchange; nil when it ended well
	Behind   bool
	Held     replica.Held // of the last push
}

// State is how the exchange stands now.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Behind = l.behind
	return s
}

// Waiting is what the remote is not known to have.
func (l *Link) Waiting(ctx context.Context) (replica.Waiting, error) { return l.replica.Waiting(ctx) }

// Wake makes the link look at once. It never blocks.
func (l *Link) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// end stops the link after the exchange under way.
func (l *Link) end() { close(l.ended) }

// announced is what the remote said its head is.
func (l *Link) announced(head plumbing.Hash) {
	has, err := l.replica.Has(head)
	if err == nil && has {
		return
	}
	l.mu.Lock()
	l.behind = true
	l.mu.Unlock()
	l.Wake()
}

// run exchanges events until ctx ends.
func (l *Link) run(ctx context.Context) {
	var b backoff
	pull := true
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.ended:
			if err := l.replica.Forget(); err != nil {
				l.log.Warn("forget a remote", "space", l.Remote.Space, "remote", l.Remote.Name, "err", err)
			}
			return
		case <-l.wake:
		case <-timer.C:
			pull = true
		}
		direction := api.PushOnly
		if pull || l.State().Behind {
			direction = ""
		}
		_, err := l.Exchange(ctx, direction)
		pull = err != nil
		timer.Reset(l.pause(&b, l.State().Held, err))
	}
}

// pause is how long until the link looks again by itself.
func (l *Link) pause(b *backoff, held replica.Held, err error) time.Duration {
	switch {
	case err == nil:
		b.reset()
		wait := time.Duration(never)
		if l.poll > 0 {
			wait = jitter(l.poll)
		}
		if len(held.Events) > 0 {
			// Now and then, since somebody may set one of the clocks.
			wait = min(wait, max(held.Next, heldAtLeast), heldAtMost)
		}
		return wait
	case replica.IsOffline(err), errors.Is(err, replica.ErrRaced):
		return b.next(time.Now())
	default:
		return jitter(refusedN)
	}
}

const never = 1 << 62

// How soon and how late events are offered again that had to wait for their
// time.
const (
	heldAtLeast = 100 * time.Millisecond
	heldAtMost  = time.Minute
)

// Exchange pulls and pushes now, or does one of them. Where nothing was asked
// of the remote, nothing is known anew of how the exchange stands.
func (l *Link) Exchange(ctx context.Context, direction api.Direction) (api.SyncResult, error) {
	result := api.SyncResult{Space: l.Remote.Space, Remote: l.Remote.Name}
	asked, err := l.exchange(ctx, direction, &result)
	l.mu.Lock()
	if asked || err != nil {
		l.state.Err = err
	}
	if asked && err == nil {
		l.state.LastSync = l.now()
	}
	l.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		l.log.Info("sync", "space", l.Remote.Space, "remote", l.Remote.Name, "err", err)
	}
	return result, err
}

// exchange also says whether the remote was asked for anything.
func (l *Link) exchange(ctx context.Context, direction api.Direction, result *api.SyncResult) (asked bool, err error) {
	if direction != api.PushOnly {
		asked = true
		if err := l.pull(ctx, result); err != nil {
			return asked, err
		}
	}
	if direction == api.PullOnly {
		return asked, nil
	}
	sent, err := l.push(ctx, result)
	if cloned, ok := errors.AsType[*replica.ClonedError](err); ok {
		return true, l.apart(ctx, cloned.Device, result)
	}
	return asked || sent, err
}

// apart makes the machine a device of its own, which the hub took for another
// copy of itself, and goes on as that.
func (l *Link) apart(ctx context.Context, device event.DeviceID, result *api.SyncResult) error {
	if err := l.memory.Renew(ctx, device); err != nil {
		return err
	}
	if err := l.pull(ctx, result); err != nil {
		return err
	}
	_, err := l.push(ctx, result)
	return err
}

// push also says whether there was anything to ask the remote.
func (l *Link) push(ctx context.Context, result *api.SyncResult) (asked bool, err error) {
	d, err := l.replica.Push(ctx)
	l.mu.Lock()
	l.state.Held = d.Held
	l.mu.Unlock()
	result.Pushed, result.Held = result.Pushed+d.Events, len(d.Held.Events)
	if len(d.Refused) > 0 {
		// The log was put on the hub's history without them.
		ferr := errors.Join(l.memory.Follow(ctx, l.Remote.Space), l.memory.Left(ctx, l.Remote.Space, d.Refused))
		if err == nil {
			err = ferr
		}
		result.Refused = append(result.Refused, l.memory.Refusals(d.Refused)...)
	}
	if err == nil && d.Behind {
		err = l.pull(ctx, result)
	}
	return !d.Idle, err
}

func (l *Link) pull(ctx context.Context, result *api.SyncResult) error {
	l.mu.Lock()
	announced := l.behind
	l.behind = false // what is announced from here on is news
	l.mu.Unlock()
	p, err := l.replica.Pull(ctx)
	result.Pulled += p.Events
	if err != nil {
		l.mu.Lock()
		l.behind = l.behind || announced
		l.mu.Unlock()
	}
	// A pull that failed may have changed the log all the same.
	return errors.Join(err, l.memory.Follow(ctx, l.Remote.Space))
}
