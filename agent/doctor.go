package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/commitform"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// Doctor checks everything of this home. deep also reads every event with its
// signature, walks the whole history, and rebuilds the index from git.
func (a *Agent) Doctor(ctx context.Context, deep bool) (api.Report, error) {
	d := &doctor{a: a, ctx: ctx, deep: deep, whole: true, report: api.Report{OK: true, Checks: []api.Check{}}}
	d.home()
	d.durability()
	d.spaces()
	d.purges()
	d.index()
	d.embedder()
	d.remotes()
	d.policy()
	d.members()
	d.clock()
	d.refused()
	return d.report, context.Cause(ctx)
}

type doctor struct {
	a      *Agent
	ctx    context.Context
	deep   bool
	whole  bool // every space can be read to its end
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
	d.add("device", d.a.deviceWords(), err, "chmod 600 "+h.DeviceKey())
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

// durability says what a saved note survives.
func (d *doctor) durability() {
	d.a.mu.Lock()
	kind := d.a.durability()
	d.a.mu.Unlock()
	detail := "full: a saved note survives a power cut"
	if kind == eventlog.Process {
		detail = "process: a saved note survives the end of any program, not a power cut"
	}
	d.add("durability", detail, nil, "")
}

// spaces mends what can be mended, and then checks every space.
func (d *doctor) spaces() {
	for _, name := range d.a.known() {
		d.mend(name)
		if err := d.a.usable(name); err != nil {
			d.whole = false
			d.add("space "+name, "", err, d.restore(name, err))
			continue
		}
		d.a.mu.Lock()
		l := d.a.logs[name]
		d.a.mu.Unlock()
		detail, err := d.space(name, l)
		if r, ok := l.Recovered(); ok {
			detail += "; " + r.String()
		}
		d.whole = d.whole && !isType[*eventlog.IncompleteError](err)
		d.add("space "+name, detail, err, d.restore(name, err))
	}
}

// restore is what puts a space right: a backup, unless git has a command that
// loses nothing.
func (d *doctor) restore(name string, err error) string {
	switch p := problem.Of(memory.Problem(err)); {
	case p != nil && (p.Code == problem.Detached || p.Code == problem.Shallow):
		return p.Hint
	default:
		return "put the space's repository " + d.a.opt.Home.Space(name) + " back from a backup"
	}
}

// mend says what was wrong with a space's repository and what became of it.
// Whoever does not own the home leaves everything as it is.
func (d *doctor) mend(name string) {
	if d.a.owner == nil {
		return
	}
	found, err := d.a.mend(d.ctx, name, d.deep)
	mended := false
	for _, f := range found {
		next := f.Next
		if f.Mended != "" {
			mended = true
			next = "nothing: " + f.Mended
		}
		d.add("mend "+name, "", errors.New(f.What), next)
	}
	if err == nil && mended {
		err = d.readAgain(name)
	}
	if err != nil {
		d.add("mend "+name, "", memory.Problem(err), "")
	}
}

// readAgain looks at what was set aside for damaged, after mending.
func (d *doctor) readAgain(name string) error {
	if d.a.usable(name) != nil {
		return nil // said already
	}
	level, err := d.a.Level(d.ctx, name)
	if err != nil || len(level.Damaged) == 0 {
		return nil // the check of the space says it
	}
	return d.a.Rebuild(d.ctx)
}

// space checks one log: its head, and if deep all that leads to it.
func (d *doctor) space(name string, l *eventlog.Log) (string, error) {
	head, err := l.Head()
	if err != nil {
		return "", err
	}
	if !d.deep {
		level, err := d.a.Level(d.ctx, name)
		return "head " + head.Commit.String(), errors.Join(append(level.Damaged, err)...)
	}
	graph := history.New(l.Store())
	if err := graph.Add(head.Commit); err != nil {
		return "", err
	}
	events, newer := 0, 0
	var damaged error
	err = l.Added(d.ctx, plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		events++
		if bad := s.Corrupt(); bad != nil {
			damaged = errors.Join(damaged, bad)
		} else if s.Err != nil {
			newer++
		} else if err := s.Event.Verify(); err != nil {
			damaged = errors.Join(damaged, &eventlog.CorruptError{ID: s.ID, Path: commitform.Path(s.ID), Err: err})
		}
		return nil
	})
	detail := fmt.Sprintf("%d events and %d commits read, every signature good", events, graph.Len())
	if newer > 0 {
		detail += fmt.Sprintf(", %d written by a newer cairn", newer)
	}
	return detail, errors.Join(err, damaged)
}

// index rebuilds the index if it looks deep. One that holds more than can be
// read now is left as it is.
func (d *doctor) index() {
	if d.deep && !d.whole {
		d.add("index", "", errors.New("it was not rebuilt: it still finds what cannot be read at the moment"), "mend the space first")
	} else if d.deep && d.a.owner != nil {
		err := d.a.Rebuild(d.ctx)
		d.add("index", "rebuilt from git", err, "run doctor again; the index can be deleted at any time")
		if err != nil {
			return
		}
	}
	for _, name := range d.a.Spaces() {
		level, err := d.level(name)
		switch {
		case err != nil:
		case level.Closed != nil:
			err = level.Closed
		case level.Indexed != level.Events:
			err = fmt.Errorf("%d of %d events are indexed", level.Indexed, level.Events)
		}
		d.add("index "+name, fmt.Sprintf("level with %d events", level.Events), err, "it catches up by itself; \"cairn doctor --deep\" rebuilds it")
	}
}

// How long an index that is behind may take to follow or to say why it does not.
const (
	followPatience = 2 * time.Second
	followPoll     = 50 * time.Millisecond
)

func (d *doctor) level(name string) (level memory.Level, err error) {
	for end := time.Now().Add(followPatience); ; {
		level, err = d.a.Level(d.ctx, name)
		if err != nil || level.Closed != nil || level.Indexed == level.Events || time.Now().After(end) {
			return level, err
		}
		select {
		case <-time.After(followPoll):
		case <-d.ctx.Done():
			return level, d.ctx.Err()
		}
	}
}

func (d *doctor) remotes() {
	for _, l := range d.a.courier.Links("", "") {
		state := l.State()
		waiting, err := l.Waiting(d.ctx)
		if err == nil {
			err = state.Err
		}
		p := problem.Of(d.a.linkProblem(l, err))
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
