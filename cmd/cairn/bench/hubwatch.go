package bench

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/internal/measure"
	"cairn/sync/replica"
)

// How many watch a space at once. A hub takes 32 connections of a key and 16
// commands on each.
const (
	watchConns   = 20
	watchPerConn = 15
)

// watchers measures how long it takes until hundreds who watch a space have
// heard of a note.
func (w *work) watchers(h *hubProcess, from *agentProcess) error {
	key, err := device.Load(disk.OS, from.home.DeviceKey())
	if err != nil {
		return err
	}
	at := replica.Address{Host: h.addr, Fingerprint: h.fingerprint()}
	ctx, stop := context.WithCancel(w.ctx)
	crowd := &crowd{heard: make(chan string, watchConns*watchPerConn)}
	defer func() { stop(); crowd.all.Wait() }()
	for range watchConns {
		hub, err := replica.NewHub(at, key)
		if err != nil {
			return err
		}
		w.later(hub.Close)
		for range watchPerConn {
			crowd.join(ctx, hub)
		}
		if err := crowd.hear(ctx, "", watchPerConn); err != nil {
			return err
		}
	}
	var times measure.Times
	for i, note := range w.moreNotes(w.opt.Runs + watchRuns)[w.opt.Runs:] {
		w.progress("telling %d watchers: %d of %d", watchConns*watchPerConn, i, watchRuns)
		began := time.Now()
		r, err := remember(w.ctx, from, draft(note, team))
		if err != nil {
			return err
		}
		if err := crowd.hear(ctx, r.Commit, watchConns*watchPerConn); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	w.rows(measure.NewRow("saved, and 300 watchers have heard", times))
	return nil
}

// watchRuns is how many notes the watchers are told.
const watchRuns = 10

// fingerprint is that of the hub's key, as it said when it started.
func (h *hubProcess) fingerprint() string {
	_, after, _ := strings.Cut(h.said.String(), ", host key ")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// A crowd is many who watch.
type crowd struct {
	heard chan string // commits, and "" for a hello
	all   sync.WaitGroup
}

func (c *crowd) join(ctx context.Context, hub *replica.Hub) {
	c.all.Go(func() {
		err := hub.Watch(ctx, []string{team}, func(l hubwire.Line) error {
			if l.New != "" || len(l.Hello) > 0 {
				c.heard <- l.New
			}
			return nil
		})
		if ctx.Err() == nil {
			c.heard <- "a watch ended: " + err.Error()
		}
	})
}

// hear returns when so many have heard of the commit.
func (c *crowd) hear(ctx context.Context, commit string, n int) error {
	ctx, stop := context.WithTimeoutCause(ctx, time.Minute, errors.New("not all watchers have heard of a note within a minute"))
	defer stop()
	for n > 0 {
		select {
		case heard := <-c.heard:
			switch {
			case heard == commit:
				n--
			case strings.Contains(heard, " "):
				return errors.New(heard)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
