package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/measure"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// fold measures making one pack of those that single appends have left, in the
// two steps that an agent takes.
func (s *storeBench) fold() error {
	if err := s.foldNow(); err != nil {
		return err
	}
	events, err := s.next.take(s.many())
	if err != nil {
		return err
	}
	before, err := packBytes(s.dir)
	if err != nil {
		return err
	}
	for i, e := range events {
		s.progress("appending what is to be folded: %d of %d", i, len(events))
		if err := save(s.ctx, s.log, e); err != nil {
			return err
		}
	}
	loose, err := packBytes(s.dir)
	if err != nil {
		return err
	}
	settling, err := cpuOf(func() error { return s.log.Settle(s.ctx) })
	if err != nil {
		return err
	}
	settled, err := packBytes(s.dir)
	if err != nil {
		return err
	}
	var wall time.Duration
	cpu, err := cpuOf(func() error {
		wall, err = timed(s.foldNow)
		return err
	})
	if err != nil {
		return err
	}
	folded, err := packBytes(s.dir)
	if err != nil {
		return err
	}
	s.rows(measure.NewRow(fmt.Sprintf("settling %d, CPU", len(events)), measure.Times{settling}),
		measure.NewRow(fmt.Sprintf("fold of %d", len(events)), measure.Times{wall}),
		measure.NewRow(fmt.Sprintf("fold of %d, CPU", len(events)), measure.Times{cpu}))
	s.amounts(perEvent("a note appended, before folding", loose-before, len(events)),
		perEvent("a note appended, settled", settled-before, len(events)),
		perEvent("a note appended, folded", folded-before, len(events)))
	return nil
}

// appendsDuringFolds measures appends while packs are folded all the time.
func (s *storeBench) appendsDuringFolds() error {
	events, err := s.next.take(s.many())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(s.ctx)
	folds, ended := 0, make(chan error, 1)
	go func() {
		var err error
		for ; err == nil && ctx.Err() == nil; folds++ {
			if err = s.log.Settle(s.ctx); err == nil {
				err = s.foldNow()
			}
		}
		ended <- err
	}()
	var times measure.Times
	for i, e := range events {
		s.progress("appending during folds: %d of %d", i, len(events))
		var took time.Duration
		if took, err = timed(func() error { return save(s.ctx, s.log, e) }); err != nil {
			break
		}
		times = append(times, took)
	}
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	s.rows(measure.NewRow(fmt.Sprintf("append, during %d folds", folds), times))
	return nil
}

// foldNow folds what an agent would fold later.
func (s *storeBench) foldNow() error {
	_, err := s.log.Store().CompactNow(s.ctx)
	return err
}

func perEvent(name string, bytes int64, events int) measure.Amount {
	return measure.Amount{Name: name, Value: float64(bytes) / float64(events), Unit: "bytes"}
}

// mergeEvents is how many notes each of two machines has, at most, that the
// other lacks.
const mergeEvents = 1000

// apart and many are mergeEvents and foldEvents unless there are fewer notes.
func (s *storeBench) apart() int { return min(mergeEvents, s.opt.Notes) }
func (s *storeBench) many() int  { return min(foldEvents, s.opt.Notes) }

// merge measures joining two histories that went apart.
func (s *storeBench) merge() error {
	s.progress("letting two histories go apart")
	base, err := s.log.Head()
	if err != nil {
		return err
	}
	events, err := s.next.take(2 * s.apart())
	if err != nil {
		return err
	}
	var here, there []event.Event // of the same hours
	for i, e := range events {
		if i%2 == 0 {
			here = append(here, e)
		} else {
			there = append(there, e)
		}
	}
	theirs, err := s.otherSide(base, there)
	if err != nil {
		return err
	}
	if err := s.saveMany(s.log, here); err != nil {
		return err
	}
	ours, err := s.log.Head()
	if err != nil {
		return err
	}
	graph := history.New(s.log.Store())
	if err := graph.Add(ours.Commit, theirs); err != nil {
		return err
	}
	var times measure.Times
	for i := range max(1, s.opt.Runs/10) {
		s.progress("joining two histories: %d", i)
		took, err := timed(func() error { return joinBothWays(s.log.Store(), graph, ours.Commit, theirs) })
		if err != nil {
			return err
		}
		times = append(times, took/2)
	}
	row := measure.NewRow(fmt.Sprintf("merge of %d and %d notes", len(here), len(there)), times)
	if s.git == nil {
		s.rows(row)
		return nil
	}
	r, err := s.git.in(s.ctx, s.dir, "merge-tree", "--write-tree", ours.Commit.String(), theirs.String())
	if err != nil {
		return err
	}
	peer := measure.NewRow("git merge-tree", measure.Times{r.Wall})
	s.rows(row.Beside(peer), peer)
	return nil
}

// joinBothWays joins as either machine would; both must come to one commit.
func joinBothWays(r gitstore.Reader, graph merge.Ancestry, a, b plumbing.Hash) error {
	here, err := merge.Heads(r, graph, a, b)
	if err != nil {
		return err
	}
	there, err := merge.Heads(r, graph, b, a)
	if err == nil && (here.Commit != there.Commit || here.FastForward) {
		err = fmt.Errorf("one machine joins to %s, the other to %s", here.Commit, there.Commit)
	}
	return err
}

// otherSide is the head of another machine that went on from base with events
// of its own, fetched into the log's repository.
func (s *storeBench) otherSide(base eventlog.Head, events []event.Event) (head plumbing.Hash, err error) {
	dir, err := s.copy()
	if err != nil {
		return head, err
	}
	other, err := eventlog.Open(disk.OS, dir, team)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, other.Close(), os.RemoveAll(dir)) }()
	if err := s.saveMany(other, events); err != nil {
		return head, err
	}
	at, err := other.Head()
	if err != nil {
		return head, err
	}
	graph := history.New(other.Store())
	if err := graph.Add(at.Commit); err != nil {
		return head, err
	}
	ids, err := history.NewObjects(s.ctx, other.Store(), graph, []plumbing.Hash{at.Commit}, []plumbing.Hash{base.Commit})
	if err != nil {
		return head, err
	}
	return at.Commit, s.take(other.Store(), ids)
}

// take moves objects from another repository into the log's.
func (s *storeBench) take(from *gitstore.Store, ids []plumbing.Hash) error {
	objects := make([]gitstore.Object, len(ids))
	for i, id := range ids {
		o, err := from.Object(id)
		if err != nil {
			return err
		}
		objects[i] = o
	}
	_, err := s.log.Store().WritePack(objects)
	return err
}

// saveMany appends events in a few goes.
func (s *storeBench) saveMany(l *eventlog.Log, events []event.Event) error {
	for part := range slices.Chunk(events, foldEvents) {
		if err := save(s.ctx, l, part...); err != nil {
			return err
		}
	}
	return nil
}

// room measures what all of it takes on disk, beside what git makes of it.
func (s *storeBench) room() error {
	if err := s.foldNow(); err != nil {
		return err
	}
	mine, err := packBytes(s.dir)
	if err != nil {
		return err
	}
	events, err := s.count()
	if err != nil {
		return err
	}
	own := perEvent("room on disk, a note", mine, events)
	if s.git == nil {
		s.amounts(own)
		return nil
	}
	dir, err := s.copy()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s.progress("repacking with git")
	for _, how := range []string{"-ad", "-adf"} {
		r, err := s.git.in(s.ctx, dir, "repack", "-q", how)
		if err != nil {
			return err
		}
		theirs, err := packBytes(dir)
		if err != nil {
			return err
		}
		s.rows(measure.NewRow("git repack "+how+", CPU", measure.Times{r.CPU}))
		peer := perEvent("git repack "+how+", a note", theirs, events)
		if own = own.Beside(peer); how == "-adf" {
			s.amounts(own)
		}
		s.amounts(peer, megabytes("git repack "+how+", memory", r.Peak))
	}
	return nil
}

// count is how many events the log has.
func (s *storeBench) count() (n int, err error) {
	head, err := s.log.Head()
	if err != nil {
		return 0, err
	}
	return n, s.log.Added(s.ctx, plumbing.ZeroHash, head.Tree, func(eventlog.Stored) error { n++; return nil })
}
