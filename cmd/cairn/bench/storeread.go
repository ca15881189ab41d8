package bench

import (
	"fmt"
	"os"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"cairn/internal/cputime"
	"cairn/internal/measure"
	"cairn/internal/memuse"
	"cairn/sync/eventlog"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// cpuOf is what this process takes for something. Elsewhere than on Linux it is
// the time on the clock.
func cpuOf(do func() error) (time.Duration, error) {
	before, err := cputime.Of(os.Getpid())
	if err != nil {
		return timed(do)
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := cputime.Of(os.Getpid())
	return after - before, err
}

// cpuAndHeap is cpuOf and, of a second time, the most that the heap grew:
// looking at that takes time, too.
func cpuAndHeap(do func() error) (cpu time.Duration, heap int64, err error) {
	if cpu, err = cpuOf(do); err != nil {
		return 0, 0, err
	}
	heap, err = memuse.Heap(do)
	return cpu, heap, err
}

// megabytes is an amount of memory.
func megabytes(name string, bytes int64) measure.Amount {
	return measure.Amount{Name: name, Value: float64(bytes) / megabyte, Unit: "MB"}
}

// differences measures what a catch-up asks when one note has come: what is new
// between two heads.
func (s *storeBench) differences() error {
	head, err := s.log.Head()
	if err != nil {
		return err
	}
	commit, err := history.ReadCommit(s.log.Store(), head.Commit)
	if err != nil {
		return err
	}
	before, err := history.ReadCommit(s.log.Store(), commit.Parents[0])
	if err != nil {
		return err
	}
	ours := func() error {
		changes := 0
		err := gittree.Diff(s.log.Store(), before.Tree, head.Tree, func(gittree.Change) error { changes++; return nil })
		return one(changes, err)
	}
	return s.besides(func(g *goGit) error {
		from, err := g.treeOf(1)
		if err != nil {
			return err
		}
		to, err := g.treeOf(0)
		if err != nil {
			return err
		}
		theirs := func() error {
			changes, err := object.DiffTree(from, to)
			return one(len(changes), err)
		}
		return s.diffRows(ours, theirs)
	})
}

func one(changes int, err error) error {
	if err == nil && changes != 1 {
		err = fmt.Errorf("%d changes between one head and the next", changes)
	}
	return err
}

func (s *storeBench) diffRows(ours, theirs func() error) error {
	var own, others, gits measure.Times
	for i := range s.opt.Runs {
		s.progress("comparing two heads: %d of %d", i, s.opt.Runs)
		if err := takeTurns([]turn{{&own, ours}, {&others, theirs}}); err != nil {
			return err
		}
		if s.git == nil || i%fewGits != 0 {
			continue
		}
		r, err := s.git.in(s.ctx, s.dir, "diff-tree", "-r", "HEAD~1", "HEAD")
		if err != nil {
			return err
		}
		gits = append(gits, r.Wall)
	}
	peer := measure.NewRow("go-git, one change between two heads", others)
	s.rows(measure.NewRow("one change between two heads", own).Beside(peer), peer)
	if s.git != nil {
		s.rows(measure.NewRow("git diff-tree", gits))
	}
	return nil
}

// history measures reading all commits, as whoever asks for ancestry for the
// first time.
func (s *storeBench) history() error {
	head, err := s.log.Head()
	if err != nil {
		return err
	}
	s.progress("reading the history")
	ours, heap, err := cpuAndHeap(func() error { return history.New(s.log.Store()).Add(head.Commit) })
	if err != nil {
		return err
	}
	var theirs time.Duration
	err = s.besides(func(g *goGit) error {
		theirs, err = cpuOf(func() error { _, err := g.commits(); return err })
		return err
	})
	if err != nil {
		return err
	}
	peer := measure.NewRow("go-git, all commits, CPU", measure.Times{theirs})
	s.rows(measure.NewRow("all commits, CPU", measure.Times{ours}).Beside(peer), peer)
	s.amounts(megabytes("all commits, heap", heap))
	return s.gitCPU("git rev-list, CPU", "rev-list", "--count", "HEAD")
}

// gitCPU adds a row for one call of git in the repository, if there is git.
func (s *storeBench) gitCPU(name string, args ...string) error {
	if s.git == nil {
		return nil
	}
	r, err := s.git.in(s.ctx, s.dir, args...)
	if err != nil {
		return err
	}
	s.rows(measure.NewRow(name, measure.Times{r.CPU}))
	return nil
}

// reads measures reading every event, as for a new index: the files alone, and
// decoded.
func (s *storeBench) reads() error {
	head, err := s.log.Head()
	if err != nil {
		return err
	}
	s.progress("reading all notes")
	files, heap, err := cpuAndHeap(func() error { return s.readFiles(head.Tree) })
	if err != nil {
		return err
	}
	events, decodedHeap, err := cpuAndHeap(func() error {
		return s.log.Added(s.ctx, plumbing.ZeroHash, head.Tree, func(e eventlog.Stored) error { return e.Err })
	})
	if err != nil {
		return err
	}
	s.amounts(megabytes("every file read, heap", heap), megabytes("every event read, heap", decodedHeap))
	return s.besides(func(g *goGit) error {
		theirs, heap, err := cpuAndHeap(func() error { return g.readAll() })
		if err != nil {
			return err
		}
		peer := measure.NewRow("go-git, every file read, CPU", measure.Times{theirs})
		s.rows(measure.NewRow("every file read, CPU", measure.Times{files}).Beside(peer),
			measure.NewRow("every event read, CPU", measure.Times{events}), peer)
		s.amounts(megabytes("go-git, every file read, heap", heap))
		return s.gitReads()
	})
}

// readFiles reads every file below a tree.
func (s *storeBench) readFiles(tree plumbing.Hash) error {
	files := s.log.Store().Scan()
	return gittree.Walk(s.log.Store(), tree, func(_ string, blob plumbing.Hash) error {
		_, err := files.Object(blob)
		return err
	})
}

func (s *storeBench) gitReads() error {
	if s.git == nil {
		return nil
	}
	r, err := s.git.contents(s.ctx, s.dir)
	if err != nil {
		return err
	}
	s.rows(measure.NewRow("git cat-file --batch, CPU", measure.Times{r.CPU}))
	return nil
}
