package proof_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// processes is how many write at once.
const processes = 4

// A torture is a repository into which many processes write and are killed, while stock git tidies up in it, holds its
// branch, and readers watch.
type torture struct {
	findings
	dir   string
	fault string
	done  atomic.Bool

	acks  acks
	lives atomic.Int64 // of processes
	gits  atomic.Int64 // runs of stock git that did what they were asked to
	looks atomic.Int64 // of readers
}

// acks are the events that somebody was told are safe.
type acks struct {
	mu  sync.Mutex
	ids []event.ID
}

func (a *acks) add(lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range lines {
		a.ids = append(a.ids, event.ID(l))
	}
}

// torturing runs all of it for a time, and looks at what is left.
func torturing(t *testing.T, fault string, long time.Duration) *torture {
	t.Helper()
	needGit(t)
	dir := filepath.Join(t.TempDir(), space+".git")
	l, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: space, ID: event.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	x := &torture{dir: dir, fault: fault}
	seeds := longtest.Rand(t)
	var writers, others sync.WaitGroup
	end := time.Now().Add(long)
	for range processes {
		r := rand.New(rand.NewPCG(seeds.Uint64(), 0))
		writers.Go(func() { x.liveAndDie(r, end) })
	}
	for _, look := range []func() error{x.watcher(), x.opener, x.stockReader()} {
		others.Go(func() { x.lookOn(look) })
	}
	for _, h := range hammers {
		r := rand.New(rand.NewPCG(seeds.Uint64(), 0))
		others.Go(func() { x.hammer(h, r) })
	}
	writers.Wait()
	x.done.Store(true)
	others.Wait()
	x.settle()
	t.Logf("%d events acknowledged by %d processes, %d looks, %d runs of git", len(x.acks.ids), x.lives.Load(), x.looks.Load(), x.gits.Load())
	return x
}

// liveAndDie starts one process after the other and kills each at a random moment.
func (x *torture) liveAndDie(r *rand.Rand, end time.Time) {
	for first := true; first || time.Now().Before(end) && !x.any(); first = false {
		c, err := startChild("writer", x.dir, x.fault)
		if err != nil {
			x.addf("start a process: %v", err)
			return
		}
		line, ok := <-c.lines
		if ok {
			x.acks.add([]string{line})
			time.Sleep(time.Duration(r.IntN(600)) * time.Millisecond)
		}
		err = c.kill()
		x.acks.add(c.rest())
		if said := c.stderr.String(); !ok || err != nil || said != "" {
			x.addf("a writer ended by itself: %v %s", err, said)
			return
		}
		x.lives.Add(1)
	}
}

// lookOn reads again and again; whatever goes wrong there is a finding.
func (x *torture) lookOn(look func() error) {
	for !x.done.Load() {
		if err := look(); err != nil {
			x.addf("a reader: %v", err)
			return
		}
		x.looks.Add(1)
	}
}

// watcher is a reader that stays. Each head that it sees must hold the one before, and all that it leads to must be there.
func (x *torture) watcher() func() error {
	var l *eventlog.Log
	var last eventlog.Head
	return func() (err error) {
		if l == nil {
			if l, err = eventlog.Open(disk.OS, x.dir, space); err != nil {
				return err
			}
		}
		head, err := l.Head()
		if err != nil || head.Commit == last.Commit {
			return err
		}
		if err := holds(l, head.Commit, last.Commit); err != nil {
			return err
		}
		err = l.Added(context.Background(), last.Tree, head.Tree, func(s eventlog.Stored) error { return s.Err })
		last = head
		return err
	}
}

// holds checks that old is in the history of head, which has no merges.
func holds(l *eventlog.Log, head, old plumbing.Hash) error {
	for at := head; at != old; {
		parent, err := parentOf(l, at)
		if err != nil {
			return err
		}
		if parent.IsZero() && !old.IsZero() {
			return fmt.Errorf("an older head: %s after %s", head, old)
		}
		at = parent
	}
	return nil
}

func parentOf(l *eventlog.Log, h plumbing.Hash) (plumbing.Hash, error) {
	c, err := history.ReadCommit(l.Store(), h)
	if err != nil || len(c.Parents) == 0 {
		return plumbing.ZeroHash, err
	}
	return c.Parents[0], nil
}

// opener is a reader that comes and goes, as a command does.
func (x *torture) opener() error {
	l, err := eventlog.Open(disk.OS, x.dir, space)
	if err != nil {
		return err
	}
	_, err = l.Head()
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	return err
}

// stockReader is stock git, whose count of commits never goes down.
func (x *torture) stockReader() func() error {
	last := 0
	return func() error {
		out, err := git(x.dir, "rev-list", "--count", "refs/heads/main")
		if err != nil {
			return err
		}
		count := 0
		if _, err := fmt.Sscan(out, &count); err != nil {
			return fmt.Errorf("git counts %q", out)
		}
		if count < last {
			return fmt.Errorf("an older head: git counts %d commits after %d", count, last)
		}
		last = count
		return nil
	}
}

// hammers are what stock git does meanwhile.
var hammers = []func(dir string, r *rand.Rand) error{
	func(dir string, _ *rand.Rand) error { return runGit(dir, "", "gc", "-q", "--prune=now") },
	func(dir string, _ *rand.Rand) error { return runGit(dir, "", "repack", "-adq") },
	func(dir string, _ *rand.Rand) error { return runGit(dir, "", "pack-refs", "--all") },
	holdBranch,
}

func runGit(dir, stdin string, args ...string) error {
	_, err := gitWith(context.Background(), dir, stdin, args...)
	return err
}

// holdBranch has stock git hold the branch's lock and give it the value that it has.
func holdBranch(dir string, _ *rand.Rand) error {
	out, err := git(dir, "rev-parse", "refs/heads/main")
	if err != nil {
		return err
	}
	head := strings.TrimSpace(out)
	return runGit(dir, fmt.Sprintf("start\nupdate refs/heads/main %s %s\nprepare\ncommit\n", head, head), "update-ref", "--stdin")
}

// hammer runs stock git again and again. It may fail, as it does when another git works beside it; what it left is looked
// at in the end.
func (x *torture) hammer(run func(string, *rand.Rand) error, r *rand.Rand) {
	for !x.done.Load() {
		if err := run(x.dir, r); err == nil {
			x.gits.Add(1)
		}
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
	}
}

// settle looks at what is left when everybody is gone.
func (x *torture) settle() {
	l, err := eventlog.Open(disk.OS, x.dir, space)
	if err != nil {
		x.addf("open the log afterwards: %v", err)
		return
	}
	defer l.Close()
	after := note("life goes on", "laptop")
	if _, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{after}, nil }); err != nil {
		x.addf("the next append: %v", err)
	}
	files := judged(&x.findings, "afterwards", x.dir)
	if files == nil {
		return // which events are lost cannot be said
	}
	for _, id := range x.acks.ids {
		if files[id] == "" {
			x.addf("%s was acknowledged and is lost", id)
		}
	}
}

func TestKilledWritersBesideStockGitLoseNothing(t *testing.T) {
	x := torturing(t, "", longtest.For(t, 3*time.Second))
	x.report(t)
	if len(x.acks.ids) < processes || x.looks.Load() < 10 || x.gits.Load() < 3 {
		t.Error("so little happened that nothing is proved")
	}
}

// A proof that cannot fail is none.
func TestTortureFindsEachFault(t *testing.T) {
	for fault, c := range map[string]struct {
		words string
		long  time.Duration // ends sooner with a finding, but what is lost shows at the end only
		runs  int           // at most: each finds something, one of them this
	}{
		faultEarly:   {"is lost", time.Second, 1},
		faultInPlace: {"a reader: ", time.Minute, 1},
		faultBack:    {"an older head", time.Minute, 5}, // unless git has removed the commit meanwhile, which is found as well
	} {
		t.Run(fault, func(t *testing.T) {
			for range c.runs {
				x := torturing(t, fault, c.long)
				if !x.any() {
					t.Fatal("nothing was found")
				}
				if x.has(c.words) {
					return
				}
				t.Logf("it was not found: %q", x.all())
			}
			t.Error("it was not found in any run")
		})
	}
}
