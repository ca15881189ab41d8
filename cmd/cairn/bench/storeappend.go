package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/measure"
	"cairn/sync/eventlog"
)

// fewGits is how many runs of ours there are for each one that starts a git
// process.
const fewGits = 20

// appends measures one durable append after the other, and in turns with it
// the same by others, and what the disk alone takes for the bytes.
func (s *storeBench) appends(state string) error {
	events, err := s.next.take(s.opt.Runs)
	if err != nil {
		return err
	}
	return s.besides(func(g *goGit) (err error) {
		bare, err := os.Create(filepath.Join(s.work.dir, "bare"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, bare.Close()) }()
		if s.git != nil {
			if _, err := s.git.in(s.ctx, g.dir, "update-ref", besideBranch, "HEAD"); err != nil {
				return err
			}
		}
		var t appendTimes
		for i, e := range events {
			s.progress("appending after %s: %d of %d", state, i, len(events))
			if err := s.appendInTurns(&t, i, e, g, bare); err != nil {
				return err
			}
		}
		s.appendRows(t, state)
		return nil
	})
}

// appendTimes are those of one event appended in several ways.
type appendTimes struct{ ours, goGit, git, disk measure.Times }

// appendInTurns appends the i-th event in every way.
func (s *storeBench) appendInTurns(t *appendTimes, i int, e event.Event, g *goGit, bare *os.File) error {
	b, err := event.Encode(e)
	if err != nil {
		return err
	}
	turns := []turn{
		{&t.ours, func() error { return save(s.ctx, s.log, e) }},
		{&t.goGit, func() error { return g.append(e) }},
		{&t.disk, func() error { _, err := writeAndSync(bare, b); return err }},
	}
	if err := takeTurns(turns); err != nil {
		return err
	}
	if s.git != nil && i%fewGits == 0 {
		r, err := s.git.fastImport(s.ctx, g.dir, e, b)
		if err != nil {
			return err
		}
		t.git = append(t.git, r.Wall)
	}
	if i%foldEvents == foldEvents-1 {
		return s.tidy(s.log)
	}
	return nil
}

func (s *storeBench) appendRows(t appendTimes, state string) {
	bare := measure.NewRow("write and sync, after "+state, t.disk)
	s.rows(measure.NewRow("append, after "+state, t.ours).Beside(bare), bare,
		measure.NewRow("go-git, unsynced, after "+state, t.goGit).Beside(bare))
	if s.git != nil {
		s.rows(measure.NewRow("git fast-import, after "+state, t.git).Beside(bare))
	}
}

// A turn is something to be done and timed beside other things.
type turn struct {
	times *measure.Times
	do    func() error
}

func takeTurns(turns []turn) error {
	for _, t := range turns {
		took, err := timed(t.do)
		if err != nil {
			return err
		}
		*t.times = append(*t.times, took)
	}
	return nil
}

// opens measures from nothing open to one note appended.
func (s *storeBench) opens() error {
	events, err := s.next.take(max(1, s.opt.Runs/10))
	if err != nil {
		return err
	}
	dir, err := s.copy()
	if err != nil {
		return err
	}
	var ours, theirs measure.Times
	for i, e := range events {
		s.progress("opening: %d of %d", i, len(events))
		turns := []turn{
			{&ours, func() error { return s.openAndAppend(e) }},
			{&theirs, func() error { return openGoGitAndAppend(dir, e) }},
		}
		if err := takeTurns(turns); err != nil {
			return err
		}
	}
	peer := measure.NewRow("go-git, open and first append", theirs)
	s.rows(measure.NewRow("open and first append", ours).Beside(peer), peer)
	return os.RemoveAll(dir)
}

func (s *storeBench) openAndAppend(e event.Event) error {
	l, err := eventlog.Open(disk.OS, s.dir, team)
	if err != nil {
		return err
	}
	return errors.Join(save(s.ctx, l, e), l.Close())
}

func openGoGitAndAppend(dir string, e event.Event) error {
	g, err := openGoGit(dir)
	if err != nil {
		return err
	}
	return errors.Join(g.append(e), g.close())
}

// manyWriters is with how many writers at once appends are measured.
var manyWriters = []int{4, 16}

// writers measures many goroutines of one process that append at once, a note
// at a time, each on its own.
func (s *storeBench) writers() error {
	for _, n := range manyWriters {
		events, err := s.next.take(s.opt.Runs)
		if err != nil {
			return err
		}
		s.progress("appending with %d writers", n)
		times, errs := make([]measure.Times, n), make([]error, n)
		var all sync.WaitGroup
		began := time.Now()
		for i := range n {
			all.Go(func() {
				for at := i; at < len(events) && errs[i] == nil; at += n {
					var took time.Duration
					took, errs[i] = timed(func() error { return save(s.ctx, s.log, events[at]) })
					times[i] = append(times[i], took)
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		if err := errors.Join(errs...); err != nil {
			return err
		}
		s.manyRow(fmt.Sprintf("append, %d writers in one process", n), times, took)
		if err := s.tidy(s.log); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) manyRow(name string, times []measure.Times, took time.Duration) {
	var joined measure.Times
	for _, t := range times {
		joined = append(joined, t...)
	}
	w.rows(measure.NewRow(name, joined).At(float64(len(joined)), "events/s", took))
}
