package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/purge"
)

// Purged forgets what the home keeps beside a log of events that have left it
// for good: the files of refused ones, and their lines on the lists.
func (c carried) Purged(ctx context.Context, space string, gone *purge.Set) error {
	dir := c.a.opt.Home.Parked(space)
	for id := range gone.All() {
		err := c.a.opt.FS.Remove(filepath.Join(dir, string(id)+".json"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := c.a.opt.FS.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer c.a.changed()
	return c.a.Forget(ctx, space, gone.Has)
}

// finishPurges goes on with taking purged events off the disk, if that broke
// off. It says what could not be done, to be tried again.
func (a *Agent) finishPurges(ctx context.Context) {
	for name, l := range a.openLogs() {
		a.expunge(ctx, name, l)
	}
}

func (a *Agent) expunge(ctx context.Context, name string, l *eventlog.Log) {
	done, err := l.Expunge(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		a.log.Warn("taking purged events off the disk", "space", name, "err", err)
	case done.Objects > 0:
		a.log.Info("took purged events off the disk", "space", name, "objects", done.Objects, "refs", done.Refs)
	}
}

// finishPurge is finishPurges for what left word in a log that it broke off.
func (a *Agent) finishPurge(ctx context.Context, name string, l *eventlog.Log) {
	pending, err := l.Store().IsPending()
	switch {
	case err != nil:
		a.log.Warn("look for a purge that broke off", "space", name, "err", err)
	case pending:
		a.expunge(ctx, name, l)
	}
}

// purges says what was purged from each space, and looks whether anything of it
// is left on this machine.
func (d *doctor) purges() {
	for _, name := range d.a.Spaces() {
		l := d.a.openLogs()[name]
		if l == nil {
			continue // what is wrong with the space is said elsewhere
		}
		records, err := l.Purges()
		if len(records) == 0 && err == nil {
			continue
		}
		detail, err := purgeWords(l, records, err)
		d.add("purged "+name, detail, err, "it is tried again by itself; look again in a minute")
	}
}

func purgeWords(l *eventlog.Log, records []purge.Record, err error) (string, error) {
	if err != nil {
		return "", err
	}
	left, err := l.Leftovers()
	if err != nil {
		return "", err
	}
	pending, err := l.Store().IsPending()
	if err != nil {
		return "", err
	}
	if len(left) > 0 || pending {
		return "", problem.New(problem.Failed, fmt.Sprintf("old objects are still to be removed after a purge; %d purged events are among them", len(left)))
	}
	last := records[len(records)-1]
	return fmt.Sprintf("%d events were taken out for good in %d purges, the last on %s; nothing of them is stored here",
		purge.NewSet(records).Len(), len(records), last.At.Format("2006-01-02")), nil
}

// purgedFrom is how many events were purged from a space.
func (a *Agent) purgedFrom(name string) (n int, last *event.Time, err error) {
	l := a.openLogs()[name]
	if l == nil {
		return 0, nil, nil
	}
	records, err := l.Purges()
	if err != nil || len(records) == 0 {
		return 0, nil, err
	}
	at := records[len(records)-1].At
	return purge.NewSet(records).Len(), &at, nil
}
