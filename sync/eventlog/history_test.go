package eventlog_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// many is more events than an opening is to read one by one.
const many = 2100

// long is a log of many events.
func long(t *testing.T) *eventlog.Log {
	t.Helper()
	l := create(t)
	var events []event.Event
	for i := range many {
		events = append(events, signed(fmt.Sprint("note ", i)))
	}
	save(t, l, events...)
	return l
}

func headOf(t *testing.T, l *eventlog.Log) plumbing.Hash {
	t.Helper()
	h, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	return h.Commit
}

// learn opens the log anew and asks for its history. It returns how many
// commits that knows, and what was read for it.
func learn(t *testing.T, l *eventlog.Log) (commits int, c countfs.Count) {
	t.Helper()
	f := countfs.New(disk.OS)
	again, err := eventlog.Open(f, l.Store().Dir(), personal.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	before := f.Count()
	g, err := again.History(headOf(t, again))
	if err != nil {
		t.Fatal(err)
	}
	return g.Len(), f.Count().Sub(before)
}

func tidy(t *testing.T, l *eventlog.Log) {
	t.Helper()
	if _, err := l.History(headOf(t, l)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tidy(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func graphFile(l *eventlog.Log) string {
	return filepath.Join(l.Store().Dir(), "objects", "info", "commit-graph")
}

// verify has stock git compare the file with the commits.
func verify(t *testing.T, l *eventlog.Log) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("SKIPPED: no git on this machine, so commit-graph verify was not run")
		return
	}
	cmd := exec.Command("git", "commit-graph", "verify")
	cmd.Dir = l.Store().Dir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git commit-graph verify: %v\n%s", err, out)
	}
	fsck(t, l)
}

func TestATidyLogIsOpenedWithoutReadingItsCommits(t *testing.T) {
	t.Parallel()
	l := long(t)
	commits, c := learn(t, l)
	if commits != many+1 || c.Reads < many/2 {
		t.Fatalf("%d commits with %d reads, before anything was written down", commits, c.Reads)
	}
	tidy(t, l)
	verify(t, l)
	if commits, c = learn(t, l); commits != many+1 || c.Reads > 20 {
		t.Errorf("%d commits with %d reads", commits, c.Reads)
	}
	// The file is not written for every few events, and is of use without it.
	save(t, l, signed("one more"))
	tidy(t, l)
	if commits, c = learn(t, l); commits != many+2 || c.Reads > 25 {
		t.Errorf("with one commit more: %d commits with %d reads", commits, c.Reads)
	}
	verify(t, l)
}

func TestStockGitsFileServesAsWell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine")
	}
	l := long(t)
	cmd := exec.Command("git", "commit-graph", "write", "--reachable")
	cmd.Dir = l.Store().Dir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git commit-graph write: %v\n%s", err, out)
	}
	if commits, c := learn(t, l); commits != many+1 || c.Reads > 20 {
		t.Errorf("%d commits with %d reads", commits, c.Reads)
	}
}

func TestADamagedFileIsPassedOverAndReplaced(t *testing.T) {
	t.Parallel()
	l := long(t)
	tidy(t, l)
	if err := os.Remove(graphFile(l)); err != nil { // it is read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(graphFile(l), []byte("CGPH and nothing more"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := createAt(t, l.Store().Dir(), personal)
	tidy(t, again)
	if commits, c := learn(t, again); commits != many+1 || c.Reads > 20 {
		t.Errorf("%d commits with %d reads", commits, c.Reads)
	}
	verify(t, again)
}

// A purge rewrites the history while its order is being written down.
func TestNoOrderOfAFormerHistoryIsLeftBehind(t *testing.T) {
	t.Parallel()
	l := long(t)
	head := headOf(t, l)
	if _, err := l.History(head); err != nil {
		t.Fatal(err)
	}
	if err := l.Store().UpdateRef(eventlog.EpochRef, plumbing.ZeroHash, head); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tidy(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(graphFile(l)); !os.IsNotExist(err) {
		t.Errorf("the file was written: %v", err)
	}
	tidy(t, l)
	if _, err := os.Stat(graphFile(l)); err != nil {
		t.Errorf("in the new epoch: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(graphFile(l)))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
