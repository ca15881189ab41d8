package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

var personal = commitform.Space{Name: "personal", ID: event.NewID(time.Unix(1_700_000_000, 0))}

func create(t *testing.T) *eventlog.Log {
	t.Helper()
	return createAt(t, filepath.Join(t.TempDir(), "personal.git"), personal)
}

func createAt(t *testing.T, dir string, space commitform.Space) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Create(disk.OS, dir, space)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func signed(text string) event.Event { return eventtest.Signed(eventtest.Note(text), "laptop") }

// save appends events and fails the test if that fails.
func save(t *testing.T, l *eventlog.Log, events ...event.Event) []eventlog.Appended {
	t.Helper()
	done, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// ids lists the events in the log.
func ids(t *testing.T, l *eventlog.Log) []event.ID {
	t.Helper()
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	var all []event.ID
	err = l.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		all = append(all, s.ID)
		return s.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fsck asks stock git whether the repository is sound.
func fsck(t *testing.T, l *eventlog.Log) {
	t.Helper()
	if err := gitFsck(t, l.Store().Dir()); err != nil {
		t.Fatal(err)
	}
}

func gitFsck(t *testing.T, dir string) error {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("stock git is not installed: fsck was not run")
		return nil
	}
	cmd := exec.Command("git", "fsck", "--strict", "--no-dangling")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		return fmt.Errorf("git fsck: %v\n%s", err, out)
	}
	return nil
}

func TestEventsReadBackByteForByte(t *testing.T) {
	l := create(t)
	var want []event.Event
	for i, k := range event.Kinds() {
		p := eventtest.Payloads().Filter(func(p event.Payload) bool { return p.Kind() == k }).Example(i)
		want = append(want, eventtest.Signed(eventtest.Of(p), "laptop"))
	}
	done := save(t, l, want...)
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range want {
		b, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Event(head.Tree, e.ID)
		if err != nil || !bytes.Equal(got.Bytes, b) || !bytes.Equal(done[i].Bytes, b) {
			t.Errorf("%s reads back as %q, %v", e.Kind, got.Bytes, err)
		}
		if err := got.Event.Verify(); err != nil {
			t.Errorf("%s: %v", e.Kind, err)
		}
	}
	if head.Commit != done[len(done)-1].Commit {
		t.Error("the head is not the last commit")
	}
	fsck(t, l)
}

func TestEachEventIsACommitOfItsOwn(t *testing.T) {
	l := create(t)
	var all []event.ID
	for batch := range 3 {
		var events []event.Event
		for i := range 5 {
			events = append(events, signed(fmt.Sprint(batch, i)))
		}
		for _, a := range save(t, l, events...) {
			all = append(all, a.Event.ID)
			o, err := l.Store().Object(a.Commit)
			if err != nil {
				t.Fatal(err)
			}
			if want := "\n\nobserve: " + string(a.Event.ID) + "\n\nCairn-Schema: 1\n"; !bytes.HasSuffix(o.Data, []byte(want)) {
				t.Fatalf("commit %s does not end in %q", o.Data, want)
			}
		}
	}
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.CommitsOf(context.Background(), head.Commit, all)
	if err != nil || len(found) != 15 {
		t.Fatalf("%d commits found, %v", len(found), err)
	}
	seen := map[plumbing.Hash]bool{}
	for _, c := range found {
		seen[c] = true
	}
	if len(seen) != 15 {
		t.Fatalf("15 events are in %d commits", len(seen))
	}
}

func TestWhatIsNotOfThisLogIsNotAppended(t *testing.T) {
	l := create(t)
	before, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	good := signed("good")
	for name, spoil := range map[string]func(*event.Event){
		"another space":  func(e *event.Event) { e.Space = "team" },
		"another branch": func(e *event.Event) { e.Ref = "HEAD" },
		"invalid":        func(e *event.Event) { e.Actor.ID = "" },
		"same id twice":  func(e *event.Event) { e.ID = good.ID },
	} {
		bad := signed("bad")
		spoil(&bad)
		_, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{good, bad}, nil })
		if err == nil {
			t.Errorf("%s is appended", name)
		}
	}
	if after, err := l.Head(); err != nil || after != before {
		t.Fatalf("the head moved to %v, %v", after, err)
	}
}

func TestWritersSideBySideLoseNothing(t *testing.T) {
	l := create(t)
	dir := l.Store().Dir()
	const writers, each = 8, 12
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			own, err := eventlog.Open(disk.OS, dir, "personal")
			if err != nil {
				errs <- err
				return
			}
			defer own.Close()
			for i := range each {
				e := signed(fmt.Sprint(w, " ", i))
				if _, err := own.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil }); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if got := len(slices.Compact(ids(t, l))); got != writers*each {
		t.Fatalf("%d of %d events are in the log", got, writers*each)
	}
	fsck(t, l)
}

func TestReplayKeepsTheBytes(t *testing.T) {
	ours := create(t)
	theirs := createAt(t, filepath.Join(t.TempDir(), "personal.git"), commitform.Space{Name: "personal", ID: event.NewID(time.Now())})
	saved := save(t, ours, signed("one"), signed("two"))
	base := save(t, theirs, signed("three"))

	// The machine has fetched the other history.
	copyObjects(t, theirs, ours)
	var own []eventlog.Stored
	for _, a := range saved {
		own = append(own, eventlog.Stored{ID: a.Event.ID, Bytes: a.Bytes, Event: a.Event})
	}
	if _, err := ours.Replay(context.Background(), base[0].Commit, base[0].Commit, each(own)); !errors.Is(err, eventlog.ErrBusy) {
		t.Fatalf("replay over a head that moved: %v", err)
	}
	if _, err := ours.Replay(context.Background(), saved[1].Commit, base[0].Commit, each(own)); err != nil {
		t.Fatal(err)
	}
	if err := ours.Identify(); err != nil || ours.Space() != theirs.Space() {
		t.Fatalf("the log is now %v, %v", ours.Space(), err)
	}
	if got := ids(t, ours); len(got) != 3 {
		t.Fatalf("%d events after the replay", len(got))
	}
	head, err := ours.Head()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range saved {
		if s, err := ours.Event(head.Tree, a.Event.ID); err != nil || !bytes.Equal(s.Bytes, a.Bytes) {
			t.Errorf("event %s reads back differently: %v", a.Event.ID, err)
		}
	}
	fsck(t, ours)
}

// each hands events to a replay.
func each(events []eventlog.Stored) func(func(eventlog.Stored) error) error {
	return func(put func(eventlog.Stored) error) error {
		for _, s := range events {
			if err := put(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// longNotes are events of nearly a megabyte each, which no compression makes small.
func longNotes(t *testing.T, n int) (notes []eventlog.Stored) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		text := make([]byte, 950_000)
		for i := range text {
			text[i] = byte('a' + r.IntN(26))
		}
		e := signed("long")
		e.Payload = &event.Observe{Summary: "long", Content: string(text)}
		e = eventtest.Signed(e, "laptop")
		b, err := event.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, eventlog.Stored{ID: e.ID, Bytes: b, Event: e})
	}
	return notes
}

func packsOf(t *testing.T, l *eventlog.Log) []string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(l.Store().Dir(), "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	return packs
}

// A replay of many events stores them in portions, and what it has stored is
// nowhere to be seen when it breaks off.
func TestALongReplayIsStoredInPortions(t *testing.T) {
	t.Parallel()
	l := create(t)
	saved := save(t, l, signed("one"))
	notes := longNotes(t, 40)
	before := len(packsOf(t, l))
	broken := errors.New("the events cannot be read on")
	_, err := l.Replay(t.Context(), saved[0].Commit, saved[0].Commit, func(put func(eventlog.Stored) error) error {
		return errors.Join(each(notes[:20])(put), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("a replay that breaks off: %v", err)
	}
	if head, err := l.Head(); err != nil || head.Commit != saved[0].Commit {
		t.Errorf("after a replay that broke off the log ends at %v, %v", head, err)
	}
	if n := len(packsOf(t, l)) - before; n != 1 {
		t.Errorf("20 MB of events are stored in %d packs before the last", n)
	}
	fsck(t, l)
	head, err := l.Replay(t.Context(), saved[0].Commit, saved[0].Commit, each(notes))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(packsOf(t, l)) - before; n != 3 {
		t.Errorf("40 MB of events are in %d packs", n)
	}
	for _, n := range notes {
		if s, err := l.Event(head.Tree, n.ID); err != nil || !bytes.Equal(s.Bytes, n.Bytes) {
			t.Errorf("event %s reads back differently: %v", n.ID, err)
		}
	}
	fsck(t, l)
}

func copyObjects(t *testing.T, from, to *eventlog.Log) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(from.Store().Dir(), "objects", "pack", "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(packs) // .idx before .pack
	for _, p := range packs {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to.Store().Dir(), "objects", "pack", filepath.Base(p)), b, 0o444); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever became of a repository, it is never taken for an empty log, at open
// or at append.
func TestARepositoryThatIsNotALogIsRefused(t *testing.T) {
	write := func(name, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644) }
	}
	someID := plumbing.ComputeHash(plumbing.BlobObject, []byte("x")).String()
	garbled := func(err error) bool { _, ok := errors.AsType[*gitstore.GarbledRefError](err); return ok }
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	cases := map[string]struct {
		spoil func(dir string) error
		want  func(error) bool
	}{
		"detached":       {write("HEAD", someID+"\n"), is(gitstore.ErrDetached)},
		"unborn":         {func(dir string) error { return os.Remove(filepath.Join(dir, "refs", "heads", "main")) }, is(eventlog.ErrUnborn)},
		"empty ref":      {write("refs/heads/main", ""), garbled},
		"zero bytes":     {write("refs/heads/main", string(make([]byte, 41))), garbled},
		"words in a ref": {write("refs/heads/main", "hello\n"), garbled},
		"shallow":        {write("shallow", someID+"\n"), is(gitstore.ErrShallow)},
		"other branch":   {write("HEAD", "ref: refs/heads/other\n"), is(gitstore.ErrDetached)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := create(t)
			save(t, l, signed("before"))
			if err := l.Settle(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(l.Store().Dir()); err != nil {
				t.Fatal(err)
			}
			if name != "shallow" { // read once, at open
				_, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{signed("after")}, nil })
				if !c.want(err) {
					t.Errorf("append: %v", err)
				}
			}
			if opened, err := eventlog.Open(disk.OS, l.Store().Dir(), "personal"); !c.want(err) {
				t.Errorf("open: %v", err)
				if err == nil {
					opened.Close()
				}
			}
		})
	}
}

func TestAnotherSpaceIsNotOpened(t *testing.T) {
	l := create(t)
	_, err := eventlog.Open(disk.OS, l.Store().Dir(), "team")
	if f, ok := errors.AsType[*eventlog.ForeignError](err); !ok || f.Have != personal {
		t.Fatalf("opened as team: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain.git")
	if err := gitstore.Init(disk.OS, plain); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Open(disk.OS, plain, "team"); !errors.Is(err, eventlog.ErrUnborn) {
		t.Fatalf("an empty repository: %v", err)
	}
}

func TestCreatingTwiceIsOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "personal.git")
	var wg sync.WaitGroup
	logs := make([]*eventlog.Log, 8)
	for i := range logs {
		wg.Go(func() {
			l, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: "personal", ID: event.NewID(time.Now())})
			if err != nil {
				t.Error(err)
				return
			}
			logs[i] = l
		})
	}
	wg.Wait()
	for _, l := range logs {
		if l == nil {
			continue
		}
		if l.Space() != logs[0].Space() {
			t.Errorf("two spaces: %v and %v", l.Space(), logs[0].Space())
		}
		l.Close()
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
}
