package memuse_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"

	"cairn/internal/memuse"
)

// big is more than anything else here takes.
const big = 32 << 20

// touched is memory that is really there.
func touched(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < size; i += 512 {
		b[i] = 1
	}
	return b
}

func TestTheMemoryOfAProcess(t *testing.T) {
	debug.FreeOSMemory() // nothing that was taken before is there to be used again
	before, err := memuse.Of(os.Getpid())
	if runtime.GOOS != "linux" {
		if !errors.Is(err, memuse.ErrUnknown) {
			t.Errorf("%s does not tell, yet: %v", runtime.GOOS, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	held := touched(big)
	after, err := memuse.Of(os.Getpid())
	runtime.KeepAlive(held)
	if err != nil {
		t.Fatal(err)
	}
	if after.Private-before.Private < big/2 || after.Resident < after.Private || after.Peak < after.Resident {
		t.Errorf("before %+v, with %d bytes more %+v", before, big, after)
	}
	debug.FreeOSMemory()
	if err := memuse.ForgetPeak(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if now, err := memuse.Of(os.Getpid()); err != nil || now.Peak > after.Peak-big/2 {
		t.Errorf("the peak did not begin anew: %+v, %v", now, err)
	}
}

func TestAProcessThatIsNotThere(t *testing.T) {
	const none = 1 << 30 // above every limit on process ids
	if u, err := memuse.Of(none); err == nil {
		t.Errorf("it takes %+v", u)
	}
	if err := memuse.ForgetPeak(none); err == nil {
		t.Error("its peak was forgotten")
	}
}

const takesEnv = "MEMUSE_TEST_TAKES"

// TestMain is also the process that takes much memory and ends.
func TestMain(m *testing.M) {
	if os.Getenv(takesEnv) == "" {
		os.Exit(m.Run())
	}
	runtime.KeepAlive(touched(big))
}

func TestTheMemoryOfAProcessThatHasEnded(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), takesEnv+"=1")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	peak, err := memuse.Ended(cmd.ProcessState)
	if runtime.GOOS != "linux" {
		if !errors.Is(err, memuse.ErrUnknown) {
			t.Errorf("%s does not tell, yet: %v", runtime.GOOS, err)
		}
		return
	}
	if err != nil || peak < big {
		t.Errorf("it took %d bytes, %v", peak, err)
	}
}

func TestThePeakOfTheHeap(t *testing.T) {
	failure := errors.New("it fails")
	peak, err := memuse.Heap(func() error {
		runtime.KeepAlive(touched(big))
		return failure
	})
	if peak < big || peak > 2*big || !errors.Is(err, failure) {
		t.Errorf("%d bytes, %v", peak, err)
	}
	if peak, err := memuse.Heap(func() error { return nil }); err != nil || peak > big/4 {
		t.Errorf("nothing took %d bytes, %v", peak, err)
	}
}
