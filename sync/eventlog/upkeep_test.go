package eventlog_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"cairn/internal/countfs"
	"cairn/sync/eventlog"
)

// packs is how many there are.
func packs(t *testing.T, l *eventlog.Log) int {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(l.Store().Dir(), "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// A log that notes come to one by one is left alone while they come. When it
// has been at rest for a while its packs are joined, and after that nobody
// touches it until the next note.
func TestALogAtRestIsTidiedUpOnce(t *testing.T) {
	t.Parallel()
	const rest, notes = 30 * time.Second, 12
	dir := create(t).Store().Dir()
	counts := countfs.New(quick)
	l, err := eventlog.Open(counts, dir, "personal")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u := eventlog.NewUpkeep(l, rest)
	now := time.Now()
	look := func(when string, folds bool) {
		t.Helper()
		stats, err := u.Look(t.Context(), now)
		if err != nil || stats.Packs > 0 != folds {
			t.Errorf("%s: %+v, %v", when, stats, err)
		}
	}
	for i := range notes {
		save(t, l, signed(fmt.Sprint("note ", i)))
		look("a note came", false)
		now = now.Add(rest - 1)
	}
	if n := packs(t, l); n < notes {
		t.Fatalf("%d packs: there is nothing to do", n)
	}
	look("not at rest yet", false)
	now = now.Add(1)
	look("at rest", true)
	if n := packs(t, l); n != 1 || !u.Done() {
		t.Errorf("%d packs, done: %v", n, u.Done())
	}
	if n := len(ids(t, l)); n != notes {
		t.Errorf("%d events", n)
	}
	fsck(t, l)
	before := counts.Count()
	for range 100 {
		now = now.Add(rest)
		look("tidy", false)
	}
	if c := counts.Count().Sub(before); c.Writes+c.Changes+c.Syncs > 0 || c.Looks > 100*maxLooks {
		t.Errorf("a hundred looks at a tidy log: %+v", c)
	}
	save(t, l, signed("one more"))
	look("another note", false)
	if u.Done() {
		t.Error("a new note is not seen")
	}
}

// maxLooks is how many files a look at a tidy log may open or look up: what it takes to read the head.
const maxLooks = 6

// Upkeep that fails, or is broken off, is done again.
func TestUpkeepThatFailsIsDoneAgain(t *testing.T) {
	t.Parallel()
	l := create(t)
	for i := range 12 {
		save(t, l, signed(fmt.Sprint("note ", i)))
		settled(t, l)
	}
	u := eventlog.NewUpkeep(l, 0)
	broken, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.Look(broken, time.Now()); err == nil || u.Done() {
		t.Errorf("broken off: %v, done %v", err, u.Done())
	}
	if stats, err := u.Look(t.Context(), time.Now()); err != nil || stats.Packs < 12 || !u.Done() {
		t.Errorf("again: %+v, %v, done %v", stats, err, u.Done())
	}
}
