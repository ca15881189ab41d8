package gitstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// Environment of a child process of these tests: what to do, in which repository, under which name.
const (
	childRole = "GITSTORE_TEST_ROLE"
	childDir  = "GITSTORE_TEST_DIR"
	childName = "GITSTORE_TEST_NAME"
)

func TestMain(m *testing.M) {
	role, dir, name := os.Getenv(childRole), os.Getenv(childDir), os.Getenv(childName)
	var err error
	switch role {
	case "":
		code := m.Run()
		for _, made := range histories.made {
			os.RemoveAll(made)
		}
		os.Exit(code)
	case "append":
		err = childAppends(dir, name, 1<<30)
	case "append some":
		err = childAppends(dir, name, 25)
	case "die in ref":
		err = childDiesInRefUpdate(dir)
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childAppends appends commits and says each one's id once it is durable.
func childAppends(dir, name string, count int) error {
	s, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		return err
	}
	for i := range count {
		h, err := appendOne(s, fmt.Sprintf("%s: note %d", name, i))
		if err != nil {
			return err
		}
		if _, err := fmt.Println(h); err != nil {
			return err
		}
	}
	return s.Close()
}

func appendOne(s *gitstore.Store, text string) (_ plumbing.Hash, err error) {
	l, err := s.Lock(context.Background())
	if err != nil {
		return plumbing.Hash{}, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	head, err := s.Head()
	if err != nil {
		return plumbing.Hash{}, err
	}
	objs := commitOf(text)
	if !head.Commit.IsZero() {
		objs = commitOf(text, head.Commit)
	}
	if _, err := s.WritePack(objs); err != nil {
		return plumbing.Hash{}, err
	}
	return objs[2].Hash, s.UpdateRef(head.Ref, head.Commit, objs[2].Hash)
}

// childDiesInRefUpdate stops for good while it holds a ref's lock file.
func childDiesInRefUpdate(dir string) error {
	s, err := gitstore.Open(stuckFS{disk.OS}, dir)
	if err != nil {
		return err
	}
	_, err = appendOne(s, "never acknowledged")
	return err
}

// A stuckFS stops the process when it renames the lock file of main.
type stuckFS struct{ disk.FS }

func (s stuckFS) Rename(from, to string) error {
	if strings.HasSuffix(from, "main.lock") {
		fmt.Println("stuck")
		select {}
	}
	return s.FS.Rename(from, to)
}

// A process is a child that writes to a repository.
type process struct {
	cmd   *exec.Cmd
	lines chan string // what it says; closed at its end
}

func start(t testing.TB, role, dir, name string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir, childName+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, lines: make(chan string, 1<<16)}
	go p.read(out)
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) read(out io.Reader) {
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			close(p.lines)
			return
		}
		p.lines <- strings.TrimSpace(line)
	}
}

// kill ends the process at once, wherever it is, and returns what it had said.
func (p *process) kill() []string {
	p.cmd.Process.Kill()
	return p.rest()
}

// rest waits for the end and returns what was said and not read yet.
func (p *process) rest() (said []string) {
	for line := range p.lines {
		said = append(said, line)
	}
	p.cmd.Wait()
	return said
}

func mustContain(t testing.TB, s *gitstore.Store, acknowledged []string) {
	t.Helper()
	history := map[string]bool{}
	for line := range strings.Lines(git(t, s.Dir(), "rev-list", "main")) {
		history[strings.TrimSpace(line)] = true
	}
	for _, h := range acknowledged {
		if !history[h] {
			t.Errorf("%s was acknowledged and is not in the history", h)
		}
	}
}

func TestManyProcessesAppend(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var all []*process
	for i := range 4 {
		all = append(all, start(t, "append some", s.Dir(), fmt.Sprint("writer ", i)))
	}
	var said []string
	for _, p := range all {
		said = append(said, p.rest()...)
	}
	if len(said) != 4*25 {
		t.Errorf("%d appends were acknowledged, want 100", len(said))
	}
	mustContain(t, s, said)
	if got := strings.TrimSpace(git(t, s.Dir(), "rev-list", "--count", "main")); got != "100" {
		t.Errorf("%s commits, want 100", got)
	}
	fsck(t, s.Dir())
}

// Writers are killed in the middle of whatever they do, while stock git tidies up and others go on.
func TestKilledProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var mu sync.Mutex
	var said []string
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			args := [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-adq"}, {"pack-refs", "--all"}}[i%3]
			if out, err := tryGit(t, s.Dir(), "", args...); err != nil && !strings.Contains(out, "lock") {
				t.Errorf("git %v: %v\n%s", args, err, out)
			}
		}
	})
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for round := range 4 {
				p := start(t, "append", s.Dir(), fmt.Sprintf("writer %d.%d", w, round))
				var heard []string
				for range 3 + (w+3*round)%5 {
					line, ok := <-p.lines
					if !ok {
						t.Error("a writer ended by itself")
						return
					}
					heard = append(heard, line)
				}
				heard = append(heard, p.kill()...)
				mu.Lock()
				said = append(said, heard...)
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	close(done)
	wg.Wait()
	if len(said) < 2*4*3 {
		t.Errorf("only %d appends were acknowledged", len(said))
	}
	mustContain(t, s, said)
	again := openStore(t, s.Dir())
	appendCommit(t, again, "life goes on")
	mustContain(t, again, said)
	fsck(t, s.Dir())
}

// The lock file of a process that died holding it does not stop the next one.
func TestProcessKilledInARefUpdate(t *testing.T) {
	t.Parallel()
	s := newStore(t, gitstore.WithRefWait(0))
	first := appendCommit(t, s, "first")
	p := start(t, "die in ref", s.Dir(), "")
	if line := <-p.lines; line != "stuck" {
		t.Fatalf("the child says %q", line)
	}
	p.kill()
	lock := filepath.Join(s.Dir(), "refs", "heads", "main.lock")
	if _, err := os.Stat(lock); err != nil {
		t.Fatalf("the child left no lock file: %v", err)
	}
	mustBe(t, s, "refs/heads/main", first)
	second := appendCommit(t, s, "second")
	mustContain(t, s, []string{first.String(), second.String()})
}

// A lock file that stock git holds is not taken for a dead process's.
func TestStockGitsLockSurvivesACleanUp(t *testing.T) {
	t.Parallel()
	s := newStore(t, gitstore.WithRefWait(0))
	appendCommit(t, s, "first")
	p := start(t, "die in ref", s.Dir(), "")
	if line := <-p.lines; line != "stuck" {
		t.Fatalf("the child says %q", line)
	}
	p.kill()
	lock := filepath.Join(s.Dir(), "refs", "heads", "main.lock")
	write(t, lock, blob("what stock git is about to write").Hash.String()+"\n")
	_, err := tryAppend(t, s, "second")
	if _, ok := errors.AsType[*gitstore.RefLockedError](err); !ok {
		t.Errorf("got %v, want a RefLockedError", err)
	}
}

// Stock git removes a loose ref under a lock file that is empty. If that were taken for a dead process's, a writer could put
// the ref in place that git is about to remove, and an older value would show.
func TestStockGitsEmptyLockSurvivesACleanUp(t *testing.T) {
	t.Parallel()
	s := newStore(t, gitstore.WithRefWait(20*time.Second))
	first := appendCommit(t, s, "first")
	p := start(t, "die in ref", s.Dir(), "")
	if line := <-p.lines; line != "stuck" {
		t.Fatalf("the child says %q", line)
	}
	p.kill()
	lock := filepath.Join(s.Dir(), "refs", "heads", "main.lock")
	write(t, lock, "") // as git holds it
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		time.Sleep(200 * time.Millisecond) // git works
		if err := os.Remove(lock); err != nil {
			t.Errorf("git's lock was taken away: %v", err)
		}
	}()
	second := appendCommit(t, s, "second")
	<-freed
	mustContain(t, s, []string{first.String(), second.String()})
}

// Stock git collects garbage between the writing of a pack and of the ref that leads to it.
func TestGarbageCollectionBeforeTheRefIsSet(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	appendCommit(t, s, "first")
	l, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.Head()
	if err != nil {
		t.Fatal(err)
	}
	objs := commitOf("second", head.Commit)
	if _, err := s.WritePack(objs); err != nil {
		t.Fatal(err)
	}
	git(t, s.Dir(), "gc", "-q", "--prune=now")
	git(t, s.Dir(), "repack", "-adq")
	update(t, s, head.Ref, head.Commit, objs[2].Hash)
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	for _, o := range objs {
		mustObject(t, s, o)
	}
	fsck(t, s.Dir())
	if keeps, _ := filepath.Glob(filepath.Join(s.Dir(), "objects", "pack", "*.keep")); len(keeps) > 0 {
		t.Errorf("left: %v", keeps)
	}
}

// Our writers and stock git's update-ref compete for one ref by the same protocol.
func TestStockGitUpdatesTheSameRef(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	side := commitOf("by stock git", first)
	if _, err := s.WritePack(side); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var said []string
	wg.Go(func() {
		for i := range 10 {
			h, err := appendOne(s, fmt.Sprint("ours ", i))
			switch {
			case err == nil:
				said = append(said, h.String())
			case !errors.Is(err, gitstore.ErrRefChanged):
				t.Error(err)
			}
		}
	})
	theirs := ""
	for i := range 10 {
		old := strings.TrimSpace(git(t, s.Dir(), "rev-parse", "main"))
		out := git(t, s.Dir(), "commit-tree", "-p", old, "-m", fmt.Sprint(i), old+"^{tree}")
		made := strings.TrimSpace(out)
		if _, err := tryGit(t, s.Dir(), "", "update-ref", "refs/heads/main", made, old); err == nil {
			theirs += made + "\n"
		}
	}
	wg.Wait()
	mustContain(t, s, said)
	mustContain(t, s, strings.Fields(theirs))
	fsck(t, s.Dir())
}
