package disk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/internal/disk"
)

// Environment of a child process of these tests: what to do, and the lock file to do it with.
const (
	childRole = "DISK_TEST_ROLE"
	childPath = "DISK_TEST_PATH"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "hold":
		holdForever(os.Getenv(childPath))
	case "count":
		countUnderLock(os.Getenv(childPath))
	default:
		os.Exit(m.Run())
	}
}

// holdForever takes the lock, leaves a note, says so on stdout and waits to be killed.
func holdForever(path string) {
	l, err := disk.Lock(context.Background(), path)
	check(err)
	check(l.SetNote("writing refs/heads/main"))
	fmt.Println("held")
	select {}
}

// countUnderLock raises the number in the file beside the lock a hundred times, by reading and rewriting it.
func countUnderLock(path string) {
	for range 100 {
		l, err := disk.Lock(context.Background(), path)
		check(err)
		raise(filepath.Join(filepath.Dir(path), "count"))
		check(l.Unlock())
	}
}

func raise(counter string) {
	n := 0
	if data, err := os.ReadFile(counter); err == nil {
		_, err = fmt.Sscan(string(data), &n)
		check(err)
	}
	check(os.WriteFile(counter, fmt.Append(nil, n+1), 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// holder starts a process that holds the lock on path, and returns once it does.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := child(t, "hold", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	return cmd
}

func lock(t *testing.T, path string) *disk.FileLock {
	t.Helper()
	l, err := disk.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func unlock(t *testing.T, l *disk.FileLock) {
	t.Helper()
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsExclusiveBetweenGoroutines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var wg sync.WaitGroup
	total := 0 // guarded by the lock alone: the race detector watches it
	for range 16 {
		wg.Go(func() {
			for range 50 {
				l, err := disk.Lock(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				total++
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if total != 16*50 {
		t.Errorf("%d sections ran, want %d", total, 16*50)
	}
}

func TestLockIsExclusiveBetweenProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []*exec.Cmd
	for range 8 {
		cmd := child(t, "count", filepath.Join(dir, "lock"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "count"))
	if err != nil || string(got) != "800" {
		t.Errorf("counted %q, %v; want 800", got, err)
	}
}

func TestKilledHolderLeavesTheLockFreeAndItsNote(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	dead := holder(t, path)
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	dead.Wait()

	l := lock(t, path)
	if l.Left() != "writing refs/heads/main" {
		t.Errorf("left %q", l.Left())
	}
	unlock(t, l)
	l = lock(t, path)
	if l.Left() == "" {
		t.Error("the note went away although nobody dealt with it")
	}
	if err := l.SetNote(""); err != nil {
		t.Fatal(err)
	}
	unlock(t, l)
	l = lock(t, path)
	defer unlock(t, l)
	if l.Left() != "" {
		t.Errorf("left %q after the note was cleared", l.Left())
	}
}

func TestTakenLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	cmd := holder(t, path)
	_, err := disk.TryLock(path)
	taken, ok := errors.AsType[*disk.LockedError](err)
	if !ok || taken.PID != cmd.Process.Pid {
		t.Errorf("got %v, want a LockedError with process %d", err, cmd.Process.Pid)
	}
}

// A watchedContext says when somebody begins to wait for its end.
type watchedContext struct {
	context.Context
	waiting chan struct{}
	once    sync.Once
}

func (c *watchedContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.waiting) })
	return c.Context.Done()
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	cmd := holder(t, path)
	for range 3 {
		parent, cancel := context.WithCancel(t.Context())
		ctx := &watchedContext{Context: parent, waiting: make(chan struct{})}
		result := make(chan error, 1)
		go func() {
			_, err := disk.Lock(ctx, path)
			result <- err
		}()
		<-ctx.waiting
		cancel()
		err := <-result
		if taken, ok := errors.AsType[*disk.LockedError](err); !ok || taken.PID != cmd.Process.Pid || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want context.Canceled and the holder", err)
		}
		if !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
			t.Errorf("the message %q does not name the holder", err)
		}
		if _, err := disk.Lock(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	unlock(t, lock(t, path)) // the abandoned waits keep nothing
}

func TestTooLongNoteIsRefused(t *testing.T) {
	t.Parallel()
	l := lock(t, filepath.Join(t.TempDir(), "lock"))
	defer unlock(t, l)
	if err := l.SetNote(strings.Repeat("x", 2000)); err == nil {
		t.Error("a note of 2000 bytes was taken")
	}
}

func TestLockInMissingDirectory(t *testing.T) {
	t.Parallel()
	_, err := disk.Lock(t.Context(), filepath.Join(t.TempDir(), "no", "lock"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}
