package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/commitform"
	"cairn/internal/corpus"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/measure"
	"cairn/sync/eventlog"
)

// storing measures the log of one space on disk, without an agent: the same
// repository through our packages, through plain go-git and through stock git.
func storing(w *work) error {
	s, err := newStoreBench(w)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return s.appends("the first notes") },
		s.fill,
		func() error { return s.appends(fmt.Sprintf("%d notes", w.opt.Notes)) },
		s.opens,
		s.writers,
		s.processes,
		s.fold,
		s.appendsDuringFolds,
		s.differences,
		s.history,
		s.merge,
		s.reads,
		s.room,
	} {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// A storeBench is the log that is measured, and what will be written to it.
type storeBench struct {
	*work
	dir   string
	log   *eventlog.Log
	next  *series
	git   *gitProgram // nil without stock git
	spare int         // for names of copies
}

func newStoreBench(w *work) (*storeBench, error) {
	s := &storeBench{work: w, dir: filepath.Join(w.dir, team+".git")}
	var err error
	if s.next, err = newSeries(team, corpus.Notes(w.opt.Notes+s.more())); err != nil {
		return nil, err
	}
	space := commitform.Space{Name: team, ID: event.NewID(time.Now())}
	if s.log, err = eventlog.Create(disk.OS, s.dir, space); err != nil {
		return nil, err
	}
	w.later(s.log.Close)
	s.git, err = w.findGit()
	return s, err
}

// more is how many notes are needed besides those that are stored first.
func (s *storeBench) more() int { return 8*s.opt.Runs + 2*s.many() + 2*s.apart() + 100 }

// foldEvents is after how many appends the small packs are folded into one.
const foldEvents = 256

// fill stores the notes, as an import does, and folds as often as an agent
// would.
func (s *storeBench) fill() error {
	var cpu time.Duration
	for done := 0; done < s.opt.Notes; {
		s.progress("storing notes: %d of %d", done, s.opt.Notes)
		n := min(foldEvents, s.opt.Notes-done)
		events, err := s.next.take(n)
		if err != nil {
			return err
		}
		if err := save(s.ctx, s.log, events...); err != nil {
			return err
		}
		took, err := cpuOf(func() error { return s.tidy(s.log) })
		if err != nil {
			return err
		}
		cpu += took
		done += n
	}
	s.rows(measure.NewRow("folding all of it, CPU", measure.Times{cpu}))
	return nil
}

// tidy folds what there is to fold, as an agent does in the background.
func (s *storeBench) tidy(l *eventlog.Log) error {
	_, err := l.Store().Compact(s.ctx)
	return err
}

// copy is the repository as it is now, once more.
func (s *storeBench) copy() (string, error) {
	s.spare++
	dir := filepath.Join(s.work.dir, fmt.Sprintf("copy-%d.git", s.spare))
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		return "", fmt.Errorf("copy the repository: %w", err)
	}
	return dir, nil
}

// besides does something with a copy of the repository that go-git has open.
func (s *storeBench) besides(do func(*goGit) error) (err error) {
	dir, err := s.copy()
	if err != nil {
		return err
	}
	g, err := openGoGit(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close(), os.RemoveAll(dir)) }()
	return do(g)
}

func timed(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}
