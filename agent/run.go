package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"cairn/agent/localapi"
	"cairn/internal/disk"
	"cairn/internal/paths"
	"cairn/sync/replica"
)

// Options say which home an agent owns, and how.
type Options struct {
	Home    paths.Home
	Version string
	Log     *slog.Logger
	// Stop is called when somebody asks the agent to end; nil if this process
	// ends by itself only.
	Stop func()
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// FS is the disk that the home is on; nil is the system's.
	FS disk.FS
	// Patience is with a hub that has fallen silent.
	Patience replica.Patience
}

// Own makes this process the owner of a home, and serves its socket until
// Close. If there is an owner already the error is a *disk.LockedError.
func Own(ctx context.Context, opt Options) (*Agent, error) {
	owner, err := localapi.Own(opt.Home)
	if err != nil {
		return nil, err
	}
	a, err := open(opt, owner)
	if err != nil {
		return nil, errors.Join(err, owner.Release())
	}
	if err := a.serve(owner); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.courier.Start()
	work, stop := context.WithCancel(context.Background())
	a.stopWork = stop
	a.work.Go(func() { a.tidy(work) })
	a.work.Go(func() { a.keepDigests(work) })
	a.work.Go(func() { a.followAll(work) })
	a.work.Go(func() { a.lookBack(work) })
	return a, nil
}

// Owns says whether this process owns the home. One that does not works beside
// an owner that does not answer.
func (a *Agent) Owns() bool { return a.owner != nil }

// door is the open socket of an agent.
type door struct {
	listener net.Listener
	server   *http.Server
	callers  callers
	done     chan error
}

func (a *Agent) serve(owner *localapi.Owner) error {
	ln, err := owner.Listen()
	if err != nil {
		return err
	}
	d := &door{listener: ln, done: make(chan error, 1)}
	d.server = localapi.NewServer(a, localapi.Options{
		Info: localapi.Info{Version: a.opt.Version, PID: os.Getpid(), Home: string(a.opt.Home)},
		Stop: a.opt.Stop,
		Log:  a.log,
	})
	d.server.ConnState = d.callers.changed
	a.door = d
	go func() { d.done <- d.server.Serve(ln) }()
	return nil
}

// close lets the calls under way finish, for a while.
func (d *door) close() error {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	err := d.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = d.server.Close()
	}
	if serr := <-d.done; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

// callers counts the open connections.
type callers struct {
	mu   sync.Mutex
	open map[net.Conn]bool
	last time.Time // when the last one went, or the first look
}

func (c *callers) changed(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	switch s {
	case http.StateNew:
		c.open[conn] = true
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
		c.last = time.Now()
	}
}

// idle is how long nobody has been connected.
func (c *callers) idle(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) > 0 {
		return 0
	}
	if c.last.IsZero() {
		c.last = now
	}
	return now.Sub(c.last)
}

// Run owns a home until ctx ends, somebody asks it to stop, or, if idle is not
// zero, nobody has been connected for that long and nothing waits to be sent.
// If another process owns the home, Run with an idle limit is not needed and
// returns; without one, as a service, it takes the home over.
func Run(ctx context.Context, opt Options, idle time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opt.Stop = stop
	for {
		a, err := Own(ctx, opt)
		if err == nil {
			a.wait(ctx, idle)
			return a.Close()
		}
		if _, taken := errors.AsType[*disk.LockedError](err); !taken {
			return fmt.Errorf("start the agent: %w", err)
		}
		if idle > 0 {
			opt.Log.Info("another process owns the home", "home", opt.Home)
			return nil
		}
		// One that works for a command only declines and ends by itself.
		if err := localapi.Stop(ctx, opt.Home); err != nil {
			opt.Log.Debug("the owner of the home stays for now", "err", err)
		}
		if sleep(ctx, time.Second) != nil {
			return nil
		}
	}
}

// wait returns when the agent should end.
func (a *Agent) wait(ctx context.Context, idle time.Duration) {
	if idle == 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(min(idle/4, 15*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if a.door.callers.idle(now) >= idle && !a.owes(ctx) {
				return
			}
		}
	}
}

// owes says whether an event still waits to be sent, or a hub is watched: then
// this machine is one that others send to.
func (a *Agent) owes(ctx context.Context) bool {
	for _, l := range a.courier.Links("", "") {
		if l.Remote.Hub {
			return true
		}
		if w, err := l.Waiting(ctx); err == nil && w.Events > 0 {
			return true
		}
	}
	return false
}
