package cputime_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"cairn/internal/cputime"
)

const workEnv = "CPUTIME_TEST_WORK"

// TestMain is also the process that is watched: it works until its standard
// input ends.
func TestMain(m *testing.M) {
	if os.Getenv(workEnv) == "" {
		os.Exit(m.Run())
	}
	go func() {
		for b := []byte("work"); ; {
			sum := sha256.Sum256(b)
			b = sum[:]
		}
	}()
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// worker starts a process that works until end is called.
func worker(t *testing.T) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, sync.OnceFunc(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheTimeOfAnotherProcess(t *testing.T) {
	cmd, end := worker(t)
	defer end()
	pid := cmd.Process.Pid
	if runtime.GOOS != "linux" {
		if _, err := cputime.Of(pid); !errors.Is(err, cputime.ErrUnknown) {
			t.Errorf("%s does not tell, yet: %v", runtime.GOOS, err)
		}
		return
	}
	before, err := cputime.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	last := before
	for last < before+20*time.Millisecond { // it works, so it comes to that
		time.Sleep(time.Millisecond)
		if last, err = cputime.Of(pid); err != nil {
			t.Fatal(err)
		}
	}
	end()
	const tick = 10 * time.Millisecond // what the final figures may be rounded to
	if all := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); all < last-tick {
		t.Errorf("read %v, but it used %v in all", last, all)
	}
	if _, err := cputime.Of(pid); err == nil {
		t.Error("a process that has ended still uses time")
	}
}
