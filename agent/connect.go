package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"time"

	"cairn/agent/api"
	"cairn/agent/localapi"
	"cairn/internal/disk"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

// Connection says how to reach the agent of a home.
type Connection struct {
	Home    paths.Home
	Version string
	Log     *slog.Logger
	// Program starts an agent for the home in the background; nil, itself or
	// what it returns, means that none can be started.
	Program func() *exec.Cmd
}

// How long a started agent may take until it answers.
const startPatience = 5 * time.Second

// Connect reaches the agent of a home that has been made: the one that runs,
// or one it starts, or this process itself. The caller calls done when it
// needs the agent no longer.
func Connect(ctx context.Context, c Connection) (agent api.Agent, done func(), err error) {
	if ok, err := HasHome(c.Home); err != nil {
		return nil, nil, err
	} else if !ok {
		return nil, nil, errNoHome(c.Home)
	}
	client, err := c.find(ctx)
	switch {
	case err == nil:
		return client, client.Close, nil
	case errors.Is(err, localapi.ErrHung):
		return c.beside()
	case errors.Is(err, localapi.ErrAbsent):
	default:
		return nil, nil, asProblem(err)
	}
	if client := c.start(ctx); client != nil {
		return client, client.Close, nil
	}
	return c.inProcess(ctx)
}

// Running reaches an agent only if one is running; the error is
// localapi.ErrAbsent otherwise.
func Running(ctx context.Context, home paths.Home) (api.Agent, func(), error) {
	client, err := localapi.Dial(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	return client, client.Close, nil
}

// find dials the agent. One that speaks another protocol is asked to make
// room: it belongs to a version of cairn that was here before.
func (c Connection) find(ctx context.Context) (*localapi.Client, error) {
	client, err := localapi.Dial(ctx, c.Home)
	old, ok := errors.AsType[*localapi.ProtocolError](err)
	if !ok {
		return client, err
	}
	c.Log.Info("asking an agent of another version to end", "version", old.Agent.Version)
	if err := localapi.Stop(ctx, c.Home); err != nil && !errors.Is(err, localapi.ErrAbsent) {
		return nil, err
	}
	return nil, c.waitGone(ctx)
}

// waitGone waits until the home has no owner and reports localapi.ErrAbsent.
func (c Connection) waitGone(ctx context.Context) error {
	if err := c.untilFree(ctx, func(context.Context) bool { return false }); err != nil {
		return err
	}
	return localapi.ErrAbsent
}

// untilFree waits until the home has no owner, or until enough says so. A killed
// agent keeps its home until the system has taken it down.
func (c Connection) untilFree(ctx context.Context, enough func(context.Context) bool) error {
	ctx, stop := context.WithTimeoutCause(ctx, startPatience, localapi.ErrHung)
	defer stop()
	for {
		owner, err := localapi.Own(c.Home)
		if err == nil {
			return owner.Release()
		}
		if _, owned := errors.AsType[*disk.LockedError](err); !owned {
			return err
		}
		if enough(ctx) {
			return nil
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// start starts an agent in the background and dials it; nil if that does not
// work, whatever the reason. Of many processes that come at once one starts
// it and the others wait for it.
func (c Connection) start(ctx context.Context) *localapi.Client {
	if c.Program == nil {
		return nil
	}
	program := c.Program()
	if program == nil {
		return nil
	}
	turn, err := disk.TryLock(filepath.Join(string(c.Home), "start.lock"))
	_, waits := errors.AsType[*disk.LockedError](err)
	if err == nil {
		defer turn.Unlock()
		var client *localapi.Client
		if client, err = c.vacated(ctx); client != nil {
			return client
		}
		if err == nil {
			err = spawn(program)
		}
	}
	if err != nil && !waits {
		c.Log.Info("an agent could not be started", "err", err)
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		client, err := localapi.Dial(ctx, c.Home)
		if err == nil {
			return client
		}
		if sleep(ctx, wait) != nil {
			c.Log.Info("the agent that was started does not answer", "err", err)
			return nil
		}
	}
}

// vacated waits until the home has no owner, or one that answers, whose client
// it returns: an agent started before that would find the home taken and end.
func (c Connection) vacated(ctx context.Context) (client *localapi.Client, err error) {
	err = c.untilFree(ctx, func(ctx context.Context) bool {
		client, err = localapi.Dial(ctx, c.Home)
		return err == nil
	})
	return client, err
}

// inProcess owns the home in this process and serves its socket meanwhile. If
// somebody else was quicker, that one is reached.
func (c Connection) inProcess(ctx context.Context) (api.Agent, func(), error) {
	for {
		a, err := Own(ctx, Options{Home: c.Home, Version: c.Version, Log: c.Log})
		if err == nil {
			return a, func() {
				if err := a.Close(); err != nil {
					c.Log.Warn("closing the memory", "err", err)
				}
			}, nil
		}
		if _, taken := errors.AsType[*disk.LockedError](err); !taken {
			return nil, nil, asProblem(err)
		}
		client, err := localapi.Dial(ctx, c.Home)
		if err == nil {
			return client, client.Close, nil
		}
		if errors.Is(err, localapi.ErrHung) {
			return c.beside()
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, nil, asProblem(err)
		}
	}
}

// beside works without being the owner: it appends under the log's lock and
// leaves index and sync to the next owner.
func (c Connection) beside() (api.Agent, func(), error) {
	c.Log.Warn("the agent of this home does not answer; working beside it", "home", c.Home)
	a, err := open(Options{Home: c.Home, Version: c.Version, Log: c.Log}, nil)
	if err != nil {
		return nil, nil, asProblem(err)
	}
	return a, func() {
		if err := a.Close(); err != nil {
			c.Log.Warn("closing the memory", "err", err)
		}
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Stop asks the agent of a home to end and waits until it has.
func Stop(ctx context.Context, home paths.Home) error {
	err := localapi.Stop(ctx, home)
	ending := errors.Is(err, localapi.ErrLost)
	if errors.Is(err, localapi.ErrAbsent) && !ending {
		return nil
	}
	if err != nil && !ending {
		return asProblem(err)
	}
	err = Connection{Home: home}.waitGone(ctx)
	if errors.Is(err, localapi.ErrAbsent) {
		return nil
	}
	return fmt.Errorf("wait for the agent to end: %w", err)
}

// Find says whether an agent serves the home, and which.
func Find(ctx context.Context, home paths.Home) (api.Process, error) {
	client, err := localapi.Dial(ctx, home)
	if old, ok := errors.AsType[*localapi.ProtocolError](err); ok {
		return api.Process{Running: true, Version: old.Agent.Version, PID: old.Agent.PID}, nil
	}
	if errors.Is(err, localapi.ErrAbsent) {
		return api.Process{}, nil
	}
	if err != nil {
		return api.Process{}, asProblem(err)
	}
	defer client.Close()
	info := client.Agent()
	return api.Process{Running: true, Version: info.Version, PID: info.PID}, nil
}

// asProblem keeps a problem as it is and makes one of what finding an agent
// can end with.
func asProblem(err error) error {
	if _, ok := errors.AsType[*problem.Problem](err); ok || err == nil {
		return err
	}
	p := &problem.Problem{Code: problem.Failed, Message: err.Error(), Err: err}
	if errors.Is(err, localapi.ErrHung) || errors.Is(err, context.DeadlineExceeded) {
		p.Code = problem.Busy
	}
	return p
}
