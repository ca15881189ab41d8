package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// Doctor checks everything of this home. deep also reads every event with its
// signature, walks the whole history, and rebuilds the index from git.
func (a *Agent) Doctor(ctx context.Context, deep bool) (api.Report, error) {
	d := &doctor{a: a, ctx: ctx, deep: deep, report: api.Report{OK: true, Checks: []api.Check{}}}
	d.home()
	d.spaces()
	d.index()
	d.remotes()
	d.clock()
	d.refused()
	return d.report, context.Cause(ctx)
}

type doctor struct {
	a      *Agent
	ctx    context.Context
	deep   bool
	report api.Report
}

// add adds a check. fix is said only when err is not nil.
func (d *doctor) add(name, detail string, err error, fix string) {
	c := api.Check{Name: name, OK: err == nil, Detail: detail}
	if err != nil {
		d.report.OK = false
		c.Detail, c.Fix = err.Error(), fix
		if p := problem.Of(err); p.Hint != "" {
			c.Fix = p.Hint
		}
	}
	d.report.Checks = append(d.report.Checks, c)
}

func (d *doctor) home() {
	h := d.a.opt.Home
	info, err := os.Stat(h.DeviceKey())
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s can be read by others", h.DeviceKey())
	}
	d.add("device", "device "+string(d.a.key.ID()), err, "chmod 600 "+h.DeviceKey())
	info, err = os.Stat(string(h))
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		err = errors.New("others can change what is in it")
	}
	d.add("home", string(h), err, "chmod 700 "+string(h))
	if d.a.owner == nil {
		d.add("agent", "", errors.New("another process owns this memory and does not answer"), "end that process; notes are safe meanwhile")
		return
	}
	d.add("agent", fmt.Sprintf("version %s, process %d", d.a.opt.Version, os.Getpid()), nil, "")
}

func (d *doctor) spaces() {
	for _, name := range d.a.Spaces() {
		d.a.mu.Lock()
		l := d.a.logs[name]
		d.a.mu.Unlock()
		detail, err := d.space(l)
		d.add("space "+name, detail, err, "restore the space's repository "+d.a.opt.Home.Space(name)+" from the hub or a backup")
	}
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	for name, why := range d.a.broken {
		d.add("space "+name, "", why, "see the message; the space's repository is "+d.a.opt.Home.Space(name))
	}
}

// space checks one log: its head, and if deep all that leads to it.
func (d *doctor) space(l *eventlog.Log) (string, error) {
	head, err := l.Head()
	if err != nil {
		return "", err
	}
	if !d.deep {
		return "head " + head.Commit.String(), nil
	}
	graph := history.New(l.Store())
	if err := graph.Add(head.Commit); err != nil {
		return "", err
	}
	events, newer := 0, 0
	err = l.Added(d.ctx, plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		events++
		if s.Err != nil {
			newer++
			return nil
		}
		if err := s.Event.Verify(); err != nil {
			return &eventlog.CorruptError{ID: s.ID, Path: string(s.ID), Err: err}
		}
		return nil
	})
	detail := fmt.Sprintf("%d events and %d commits read, every signature good", events, graph.Len())
	if newer > 0 {
		detail += fmt.Sprintf(", %d written by a newer cairn", newer)
	}
	return detail, err
}

func (d *doctor) index() {
	if d.deep && d.a.owner != nil {
		err := d.a.Rebuild(d.ctx)
		d.add("index", "rebuilt from git", err, "run doctor again; the index can be deleted at any time")
		if err != nil {
			return
		}
	}
	for _, name := range d.a.Spaces() {
		level, err := d.a.Level(d.ctx, name)
		if err == nil && level.Indexed != level.Events {
			err = fmt.Errorf("%d of %d events are indexed", level.Indexed, level.Events)
		}
		d.add("index "+name, fmt.Sprintf("level with %d events", level.Events), err, "it catches up by itself; \"cairn doctor --deep\" rebuilds it")
	}
}

func (d *doctor) remotes() {
	for _, l := range d.a.courier.Links("", "") {
		state := l.State()
		waiting, err := l.Waiting(d.ctx)
		if err == nil {
			err = state.Err
		}
		p := problem.Of(syncProblem(err))
		fix := ""
		if p != nil {
			fix = p.Hint
		}
		d.add("sync "+l.Remote.Space, fmt.Sprintf("%s, %d waiting", remoteWords(l), waiting.Events), err, fix)
	}
}

func (d *doctor) refused() {
	list, err := d.a.Refused(d.ctx)
	d.add("refused", fmt.Sprintf("%d notes on the list of \"cairn refused\"", len(list)), err, "")
}
