package briefing_test

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/agent/briefing"
	"cairn/internal/disk"
	"cairn/internal/faultfs"
	"cairn/internal/paths"
)

func home(t *testing.T) paths.Home { return paths.Home(t.TempDir()) }

func TestTheDigestIsReadAsItWasKept(t *testing.T) {
	t.Parallel()
	h := home(t)
	if got, err := briefing.Kept(disk.OS, h); got != "" || err != nil {
		t.Errorf("without one: %q, %v", got, err)
	}
	for _, digest := range []string{"~0k3m9x2p 2026-11-30 缓存\n", ""} {
		if err := briefing.Keep(disk.OS, h, digest); err != nil {
			t.Fatal(err)
		}
		if got, err := briefing.Kept(disk.OS, h); got != digest || err != nil {
			t.Errorf("kept %q, read %q, %v", digest, got, err)
		}
	}
	info, err := os.Stat(h.Digest())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the digest: %v", info.Mode())
	}
}

func TestADigestIsThereWholeWhateverFails(t *testing.T) {
	t.Parallel()
	before, after := "before\n", strings.Repeat("after\n", 100)
	for n := 1; ; n++ {
		h := home(t)
		if err := briefing.Keep(disk.OS, h, before); err != nil {
			t.Fatal(err)
		}
		faulty, err := faultfs.New(string(h))
		if err != nil {
			t.Fatal(err)
		}
		faulty.FailAt(n)
		failed := briefing.Keep(faulty, h, after)
		got, err := briefing.Kept(disk.OS, h)
		if err != nil || got != before && got != after || failed == nil && got != after {
			t.Fatalf("operation %d failed (%v): then it reads %q, %v", n, failed, got, err)
		}
		if failed == nil {
			return // there is no n-th operation
		}
	}
}

func TestASessionIsBriefedOnceInAWhile(t *testing.T) {
	t.Parallel()
	h, start := home(t), time.Now()
	first := func(tool, session string, after time.Duration) bool {
		t.Helper()
		is, err := briefing.First(disk.OS, h, tool, session, start.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if !first("hermes", "a", 0) {
		t.Error("the first turn of a session was not briefed")
	}
	if first("hermes", "a", briefing.Lasts/2) {
		t.Error("a later turn of it was briefed again")
	}
	if !first("hermes", "b", 0) || !first("codex", "a", 0) || !first("hermes", "../../x\x00/", 0) {
		t.Error("another session was taken for the first one")
	}
	if !first("hermes", "a", briefing.Lasts+time.Minute) {
		t.Error("a session that goes on was not briefed again")
	}
	notes, err := os.ReadDir(h.Told())
	if err != nil || len(notes) != 1 {
		t.Errorf("of four sessions %d are remembered after their time, %v", len(notes), err)
	}
}

func TestOfHooksAtTheSameTimeOneBriefs(t *testing.T) {
	t.Parallel()
	h := home(t)
	var briefed atomic.Int64
	var hooks sync.WaitGroup
	for range 16 {
		hooks.Go(func() {
			is, err := briefing.First(disk.OS, h, "hermes", "s", time.Now())
			if err != nil {
				t.Error(err)
			}
			if is {
				briefed.Add(1)
			}
		})
	}
	hooks.Wait()
	if briefed.Load() != 1 {
		t.Errorf("%d of 16 hooks briefed the session", briefed.Load())
	}
}

func TestASessionInNoHomeIsNotNoted(t *testing.T) {
	t.Parallel()
	none := paths.Home(home(t) + "/none")
	if _, err := briefing.First(disk.OS, none, "hermes", "s", time.Now()); err == nil {
		t.Error("a session was noted where there is no home")
	}
	if _, err := os.Stat(string(none)); !os.IsNotExist(err) {
		t.Errorf("a home was made: %v", err)
	}
}
