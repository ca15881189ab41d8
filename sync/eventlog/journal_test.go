package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/wal"
)

// openAt opens the log at dir as another process would.
func openAt(t *testing.T, dir string, options ...eventlog.Option) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(quick, dir, "personal", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func settled(t *testing.T, l *eventlog.Log) {
	t.Helper()
	if err := l.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// mustHave fails the test unless the log has exactly the given events.
func mustHave(t *testing.T, what string, l *eventlog.Log, want ...eventlog.Appended) {
	t.Helper()
	have := ids(t, l)
	if len(have) != len(want) {
		t.Fatalf("%s: %d events, want %d", what, len(have), len(want))
	}
	for _, a := range want {
		if !slices.Contains(have, a.Event.ID) {
			t.Fatalf("%s: event %s is lost", what, a.Event.ID)
		}
	}
}

// journals are the files of a log's write-ahead log.
func journals(t *testing.T, l *eventlog.Log) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(l.Store().Dir(), "wal.*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// waits counts how often somebody waits for the disk.
type waits struct {
	disk.FS
	n *atomic.Int32
}

type waitedFile struct {
	disk.File
	n *atomic.Int32
}

func (w waits) SyncDir(string) error { w.n.Add(1); return nil }
func (f waitedFile) Sync() error     { f.n.Add(1); return nil }
func (f waitedFile) Datasync() error { f.n.Add(1); return nil }

func (w waits) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return waitedFile{f, w.n}, nil
}

func TestAnAppendWaitsForTheDiskOnce(t *testing.T) {
	t.Parallel()
	for durability, want := range map[eventlog.Durability]int32{eventlog.Full: 1, eventlog.Process: 0} {
		counted := waits{disk.OS, new(atomic.Int32)}
		l, err := eventlog.Create(counted, filepath.Join(t.TempDir(), "personal.git"), personal, eventlog.WithDurability(durability))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Durability() != durability {
			t.Errorf("the log says %v", l.Durability())
		}
		save(t, l, signed("the first makes the file"))
		for _, n := range []int{1, 1, 20} {
			before := counted.n.Load()
			save(t, l, notes(n)...)
			if got := counted.n.Load() - before; got != want {
				t.Errorf("durability %v: an append of %d events waits for the disk %d times, want %d", durability, n, got, want)
			}
		}
	}
}

func TestASettledLogNeedsNoWriteAheadLog(t *testing.T) {
	t.Parallel()
	l := create(t)
	var all []eventlog.Appended
	for i := range 20 {
		all = append(all, save(t, l, signed(fmt.Sprint("note ", i)))...)
	}
	settled(t, l)
	packs, err := filepath.Glob(filepath.Join(l.Store().Dir(), "objects", "pack", "*"))
	if err != nil || len(packs) > 4 {
		t.Errorf("after settling there are %v, %v", packs, err)
	}
	for _, path := range journals(t, l) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	fsck(t, l)
	mustHave(t, "opened again", openAt(t, l.Store().Dir(), eventlog.WithBoot("the next")), all...)
	all = append(all, save(t, l, signed("goes on without its file"))...)
	mustHave(t, "afterwards", openAt(t, l.Store().Dir()), all...)
}

func TestAppendsGoOnWhenNobodySettles(t *testing.T) {
	t.Parallel()
	called := 0
	l, err := eventlog.Create(quick, filepath.Join(t.TempDir(), "personal.git"), personal,
		eventlog.WithSegments(64<<10), eventlog.WithBacklog(func() { called++ }))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all []eventlog.Appended
	for i := range 200 {
		all = append(all, save(t, l, signed(fmt.Sprint("note ", i)))...)
	}
	if called == 0 {
		t.Error("nobody was told to settle")
	}
	mustHave(t, "in the end", openAt(t, l.Store().Dir()), all...)
	fsck(t, l)
}

func TestManyRecordsTurnTheSegmentToo(t *testing.T) {
	t.Parallel()
	called := 0
	l, err := eventlog.Create(quick, filepath.Join(t.TempDir(), "personal.git"), personal, eventlog.WithBacklog(func() { called++ }))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range eventlog.SegmentRecords + 1 {
		if called > 0 {
			t.Fatalf("told to settle after %d short notes", i)
		}
		save(t, l, signed("short"))
	}
	if called != 1 {
		t.Errorf("told to settle %d times", called)
	}
	settled(t, l)
	if got := len(ids(t, l)); got != eventlog.SegmentRecords+1 {
		t.Errorf("%d events", got)
	}
}

func TestALongEventIsStoredAtOnce(t *testing.T) {
	t.Parallel()
	l := create(t)
	all := save(t, l, signed("before"))
	all = append(all, save(t, l, signed(strings.Repeat("long ", 100_000)))...)
	for _, path := range journals(t, l) {
		raw, err := os.ReadFile(path)
		if err != nil || bytes.Contains(raw, []byte("long long")) {
			t.Errorf("it went through %s, %v", path, err)
		}
	}
	all = append(all, save(t, l, signed("after"))...)
	mustHave(t, "in the end", openAt(t, l.Store().Dir(), eventlog.WithBoot("the next")), all...)
}

// What a power cut, or another program that dies with one, can make of the branch.
var spoiledBranches = map[string]func(t *testing.T, path string){
	"empty":   func(t *testing.T, path string) { write(t, path, "") },
	"zeros":   func(t *testing.T, path string) { write(t, path, string(make([]byte, 41))) },
	"missing": func(t *testing.T, path string) { remove(t, path) },
	"words":   func(t *testing.T, path string) { write(t, path, "hello\n") },
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestASpoiledBranchIsPutRightAtOpenAndAtAppend(t *testing.T) {
	t.Parallel()
	for name, spoil := range spoiledBranches {
		l := create(t)
		all := save(t, l, signed("settled"))
		settled(t, l)
		all = append(all, save(t, l, signed("one"))...)
		all = append(all, save(t, l, signed("two"), signed("three"))...)
		branch := filepath.Join(l.Store().Dir(), "refs", "heads", "main")
		spoil(t, branch)
		again := openAt(t, l.Store().Dir())
		r, ok := again.Recovered()
		if !ok || r.Events != 3 || !r.From.IsZero() || r.To != all[3].Commit || !strings.Contains(r.String(), "3 events") {
			t.Errorf("%s branch: recovered %v, %v", name, r, ok)
		}
		mustHave(t, name+" branch", again, all...)
		if r, ok := openAt(t, l.Store().Dir()).Recovered(); ok {
			t.Errorf("%s branch: recovered once more: %v", name, r)
		}
		all = append(all, save(t, l, signed("four"))...)
		spoil(t, branch)
		all = append(all, save(t, l, signed("five"))...)
		mustHave(t, name+" branch, append", l, all...)
		fsck(t, l)
	}
}

// Another program that moves the branch loses nothing of what was appended, and nothing of its own.
func TestABranchThatWasMovedKeepsBoth(t *testing.T) {
	t.Parallel()
	l := create(t)
	root, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	all := save(t, l, signed("one"), signed("two"))
	theirs := createAt(t, filepath.Join(t.TempDir(), "personal.git"), personal)
	all = append(all, save(t, theirs, signed("three"))...)
	copyObjects(t, theirs, l)
	branch := filepath.Join(l.Store().Dir(), "refs", "heads", "main")
	write(t, branch, all[2].Commit.String()+"\n")
	all = append(all, save(t, l, signed("four"))...)
	mustHave(t, "after another history was put there", l, all...)
	write(t, branch, root.Commit.String()+"\n")
	l = openAt(t, l.Store().Dir())
	mustHave(t, "after the branch was put back", l, all[3])
	all = append(all[3:], save(t, l, signed("five"))...)
	mustHave(t, "an append", l, all...)
	fsck(t, l)
}

// A process that dies at any moment of an append leaves what the next one can go on with.
func TestTheNextProcessCompletesOrForgetsAnAppend(t *testing.T) {
	t.Parallel()
	completed := 0
	for n, done := 1, false; !done; n += (teller{every: 2}).step() {
		m := newMachine(t, 2)
		if err := m.append(0, signed("before")); err != nil {
			t.Fatal(err)
		}
		m.disk.DieAt(n)
		done = m.append(0, signed("under way")) == nil
		m.disk.DieAt(0)
		age(t, m.dir) // a process that really dies has announced its lock file
		if err := m.append(1, signed("after")); err != nil {
			t.Fatalf("death at operation %d: %v", n, err)
		}
		have, err := idsOf(openAt(t, m.dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range m.acked {
			if !slices.Contains(have, id) {
				t.Fatalf("death at operation %d: event %s is lost", n, id)
			}
		}
		if len(have) > len(m.acked) {
			completed++
		}
	}
	if completed == 0 {
		t.Error("no append was completed by the next process: the test shows less than it should")
	}
}

// After a failure an event is there if and only if the append said so, or could not know.
func TestAppendOnAFailingDisk(t *testing.T) {
	t.Parallel()
	for n, failed := 1, true; failed; n += (teller{every: 3}).step() {
		m := newMachine(t, 1)
		if err := m.append(0, signed("before")); err != nil {
			t.Fatal(err)
		}
		m.disk.FailAt(n)
		err := m.append(0, signed("under way"))
		failed = err != nil
		if failed && !errors.Is(err, faultfs.ErrInjected) {
			t.Errorf("failure of operation %d: %v", n, err)
		}
		m.disk.FailAt(0)
		if _, err := m.find(m.crash(faultfs.Survival{Contents: faultfs.Lost}), n%5 == 1); err != nil {
			t.Errorf("failure of operation %d, then a power cut: %v", n, err)
		}
		if err := m.append(0, signed("after")); err != nil {
			t.Errorf("append after a failure of operation %d: %v", n, err)
		}
		if _, err := m.find(m.crash(faultfs.Survival{Contents: faultfs.Lost}), n%5 == 1); err != nil {
			t.Errorf("failure of operation %d, one more append, then a power cut: %v", n, err)
		}
	}
}

func TestNothingIsLeftOfErasedEvents(t *testing.T) {
	t.Parallel()
	l := create(t)
	const phrase = "the words that must go"
	all := save(t, l, signed(phrase))
	settled(t, l)
	all = append(all, save(t, l, signed(phrase+" as well"))...)
	if !slices.ContainsFunc(journals(t, l), func(path string) bool { return holds(t, path, phrase) }) {
		t.Fatal("the write-ahead log does not hold the words to begin with")
	}
	if err := l.Store().SetPending(); err != nil {
		t.Fatal(err)
	}
	if done, err := l.Expunge(t.Context()); err != nil || done.Objects == 0 || done.Left > 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, path := range journals(t, l) {
		if holds(t, path, phrase) {
			t.Errorf("%s still holds the words", path)
		}
	}
	mustHave(t, "afterwards", openAt(t, l.Store().Dir(), eventlog.WithBoot("the next")), all...)
	save(t, l, signed("goes on"))
}

func holds(t *testing.T, path, phrase string) bool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(raw, []byte(phrase))
}

// A damaged write-ahead log keeps nobody from what is in the repository.
func TestADamagedWriteAheadLogIsSetAside(t *testing.T) {
	t.Parallel()
	l := create(t)
	all := save(t, l, signed("one"))
	settled(t, l)
	path := journals(t, l)[0]
	write(t, path, "short")
	again := openAt(t, l.Store().Dir())
	all = append(all, save(t, again, signed("two"))...)
	mustHave(t, "afterwards", openAt(t, l.Store().Dir()), all...)
	if !holds(t, path+".damaged", "short") {
		t.Error("the damaged file was not kept")
	}
}

func TestANewerWriteAheadLogIsRefused(t *testing.T) {
	t.Parallel()
	l := create(t)
	save(t, l, signed("one"))
	f, err := wal.Open(quick, journals(t, l)[0])
	if err == nil {
		err = errors.Join(f.Begin([]byte("\x02what a later version writes"), true), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = eventlog.Open(quick, l.Store().Dir(), "personal")
	if bad, ok := errors.AsType[*eventlog.JournalError](err); !ok || bad.Path == "" {
		t.Errorf("opened with %v", err)
	}
	_, err = l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return notes(1), nil })
	if _, ok := errors.AsType[*eventlog.JournalError](err); !ok {
		t.Errorf("appended with %v", err)
	}
}

func TestAClosedLogIsClosed(t *testing.T) {
	t.Parallel()
	l := create(t)
	save(t, l, signed("one"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(context.Background()); !errors.Is(err, gitstore.ErrClosed) {
		t.Errorf("settled with %v", err)
	}
}
