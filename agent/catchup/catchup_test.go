package catchup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/search"
	"cairn/sync/eventlog"
)

// A home is a folder with logs, and at most one Keeper at a time.
type home struct {
	t    *testing.T
	dir  string
	logs map[string]catchup.Log
	k    *catchup.Keeper
	in   map[string]*catchup.Space
}

func newHome(t *testing.T, spaces ...string) *home {
	h := &home{t: t, dir: t.TempDir(), logs: map[string]catchup.Log{}}
	for _, name := range spaces {
		h.logs[name] = h.create(name, filepath.Join(h.dir, name+".git"))
	}
	h.open()
	t.Cleanup(h.close)
	return h
}

func (h *home) create(name, dir string) *eventlog.Log {
	h.t.Helper()
	log, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: name, ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { log.Close() })
	return log
}

func (h *home) index() string { return filepath.Join(h.dir, "index") }

func (h *home) options() catchup.Options {
	return catchup.Options{
		FS: disk.OS, Index: h.index(),
		Facts:   func(space string) string { return filepath.Join(h.dir, "facts", space) },
		Trouble: func(err error) { h.t.Logf("trouble: %v", err) },
	}
}

func (h *home) open() {
	h.k = catchup.Open(h.options())
	h.in = h.attach(h.k)
}

func (h *home) attach(k *catchup.Keeper) map[string]*catchup.Space {
	h.t.Helper()
	in := map[string]*catchup.Space{}
	for name, log := range h.logs {
		s, err := k.Add(log)
		if err != nil {
			h.t.Fatal(err)
		}
		in[name] = s
	}
	return in
}

func (h *home) close() {
	h.t.Helper()
	if err := h.k.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart closes the Keeper, does something to the files, and opens another.
func (h *home) restart(meanwhile func()) {
	h.t.Helper()
	h.close()
	meanwhile()
	h.open()
}

func (h *home) append(space string, payloads ...event.Payload) []event.ID {
	h.t.Helper()
	var ids []event.ID
	_, err := appender(h.logs[space]).Append(h.t.Context(), func(head eventlog.Head) ([]event.Event, error) {
		var out []event.Event
		for _, p := range payloads {
			e := eventtest.Of(p)
			e.Space, e.Ref = space, head.Ref
			e = eventtest.Signed(e, "laptop")
			out, ids = append(out, e), append(ids, e.ID)
		}
		return out, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return ids
}

func appender(log catchup.Log) *eventlog.Log {
	if bent, ok := log.(*bentLog); ok {
		return bent.Log
	}
	return log.(*eventlog.Log)
}

func (h *home) note(space, text string) event.ID {
	h.t.Helper()
	return h.append(space, &event.Observe{Summary: text})[0]
}

func (h *home) level(space string) {
	h.t.Helper()
	if err := h.in[space].Level(h.t.Context()); err != nil {
		h.t.Fatalf("level %s: %v", space, err)
	}
}

// settle calls Level until everything is level, through any rebuild.
func (h *home) settle(space string) {
	h.t.Helper()
	settle(h.t, h.in[space])
}

func settle(t *testing.T, s *catchup.Space) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := s.Level(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, catchup.ErrBehind) || time.Now().After(deadline) {
			t.Fatalf("level %s: %v", s.Name(), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if level, err := s.IsLevel(); err != nil || !level {
		t.Fatalf("after Level: level %v, %v", level, err)
	}
}

func (h *home) found(text string, want ...event.ID) {
	h.t.Helper()
	if got := ask(h.t, h.k, text); !sameIDs(got, want) {
		h.t.Errorf("%q finds %v, want %v", text, got, want)
	}
}

func ask(t *testing.T, k *catchup.Keeper, text string) []event.ID {
	t.Helper()
	r, err := k.Ask(t.Context(), search.Query{Text: text, Limit: 100})
	if err != nil {
		t.Fatalf("ask %q: %v", text, err)
	}
	var ids []event.ID
	for _, hit := range r.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func sameIDs(a, b []event.ID) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func (h *home) events(space string, want int) {
	h.t.Helper()
	got := 0
	h.in[space].Facts(func(s *projection.Set) { got = s.Count() })
	if got != want || h.in[space].Mark().Events != want {
		h.t.Errorf("%d facts, the mark says %d, want %d", got, h.in[space].Mark().Events, want)
	}
	indexed, err := h.in[space].Indexed()
	if err != nil || indexed != want {
		h.t.Errorf("%d indexed, %v, want %d", indexed, err, want)
	}
}

func (h *home) noDifference(space string) {
	h.t.Helper()
	d, err := h.in[space].Compare(h.t.Context())
	if err != nil || len(d.Missing)+len(d.Extra) > 0 {
		h.t.Errorf("rows and facts: %+v, %v", d, err)
	}
}

// bentLog is a log of which a test changes what it says.
type bentLog struct {
	*eventlog.Log
	epoch uint64
	newer event.ID // shown as written by a newer program
}

func (l *bentLog) Epoch() (uint64, error) { return l.epoch, nil }

func (l *bentLog) Added(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error {
	return l.Log.Added(ctx, from, to, func(s eventlog.Stored) error {
		if s.ID == l.newer {
			s.Event, s.Err = event.Event{}, &event.NewerSchemaError{ID: s.ID, Schema: 9}
		}
		return fn(s)
	})
}

func TestWhatIsInTheLogIsFound(t *testing.T) {
	h := newHome(t, "personal", "team")
	mine, ours := h.note("personal", "the badger digs"), h.note("team", "the badger sleeps")
	h.level("personal")
	h.found("badger", mine)
	h.level("team")
	h.found("badger", mine, ours)
	h.found("digs", mine)
	h.events("personal", 1)
	if level, err := h.in["team"].IsLevel(); err != nil || !level {
		t.Errorf("level: %v, %v", level, err)
	}
	h.note("team", "the badger wakes")
	if level, err := h.in["team"].IsLevel(); err != nil || level {
		t.Errorf("level before catching up: %v, %v", level, err)
	}
	h.level("team")
	h.events("team", 2)
	h.noDifference("team")
}

// A process may die between git and the index; the next one finds the note.
func TestWhatWasAppendedBeforeTheLastProcessDiedIsFound(t *testing.T) {
	h := newHome(t, "personal")
	first := h.note("personal", "alpha badger")
	h.level("personal")
	var second event.ID
	h.restart(func() { second = h.note("personal", "beta badger") })
	h.level("personal")
	h.found("badger", first, second)
	h.events("personal", 2)
}

func TestDerivedFilesMayBeDeleted(t *testing.T) {
	for name, remove := range map[string]string{"index": "index", "facts": "facts", "everything": "*"} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "personal")
			id := h.note("personal", "badger")
			h.level("personal")
			h.restart(func() {
				for _, dir := range []string{"index", "facts"} {
					if remove == dir || remove == "*" {
						os.RemoveAll(filepath.Join(h.dir, dir))
					}
				}
			})
			h.settle("personal")
			h.found("badger", id)
			h.events("personal", 1)
		})
	}
}

func TestAnIndexDeletedWhileRunningHeals(t *testing.T) {
	h := newHome(t, "personal")
	first := h.note("personal", "alpha badger")
	h.level("personal")
	os.RemoveAll(h.index())
	second := h.note("personal", "beta badger")
	h.settle("personal")
	h.found("badger", first, second)
	h.noDifference("personal")
}

func TestADamagedIndexHeals(t *testing.T) {
	h := newHome(t, "personal")
	id := h.note("personal", "badger")
	h.level("personal")
	h.restart(func() {
		if err := os.WriteFile(filepath.Join(h.index(), "current"), []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if err := h.in["personal"].Level(t.Context()); !errors.Is(err, catchup.ErrBehind) {
		t.Errorf("with a damaged index: %v, want ErrBehind", err)
	}
	h.settle("personal")
	h.found("badger", id)
}

func TestAnotherHistoryIsReadAnew(t *testing.T) {
	h := newHome(t, "personal")
	h.note("personal", "old badger")
	h.level("personal")
	h.restart(func() { h.logs["personal"] = h.create("personal", filepath.Join(h.dir, "other.git")) })
	id := h.note("personal", "new badger")
	h.settle("personal")
	h.found("badger", id)
	h.events("personal", 1)
	h.noDifference("personal")
}

func TestANewEpochIsReadAnew(t *testing.T) {
	h := newHome(t, "personal")
	bent := &bentLog{Log: h.logs["personal"].(*eventlog.Log)}
	h.restart(func() { h.logs["personal"] = bent })
	id := h.note("personal", "badger")
	h.level("personal")
	bent.epoch = 7
	h.settle("personal")
	h.found("badger", id)
	if got := h.in["personal"].Mark().Epoch; got != 7 {
		t.Errorf("epoch %d", got)
	}
}

func TestRowsThatGitLacksAreFoundOut(t *testing.T) {
	h := newHome(t, "personal")
	id := h.note("personal", "badger")
	h.level("personal")
	h.restart(func() {
		x, err := search.Open(h.index(), search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		mark, _, err := x.Mark("personal")
		if err != nil {
			t.Fatal(err)
		}
		ghost := search.Doc{ID: event.NewID(time.Now()), Title: "ghost badger"}
		if err := x.Apply(t.Context(), search.Batch{Space: "personal", Put: []search.Doc{ghost}, Mark: mark}); err != nil {
			t.Fatal(err)
		}
	})
	h.settle("personal")
	h.found("badger", id)
	h.noDifference("personal")
}

// An event that the hub refused leaves the log again.
func TestAnEventThatLeftTheLogIsForgotten(t *testing.T) {
	h := newHome(t, "personal")
	log := h.logs["personal"].(*eventlog.Log)
	h.note("personal", "good badger")
	base, err := log.Head()
	if err != nil {
		t.Fatal(err)
	}
	h.append("personal", &event.Observe{Summary: "refused badger"})
	h.append("personal", &event.Observe{Summary: "late badger"})
	h.level("personal")
	h.events("personal", 3)
	head, err := log.Head()
	if err != nil {
		t.Fatal(err)
	}
	var keep []eventlog.Stored
	err = log.Added(t.Context(), base.Tree, head.Tree, func(s eventlog.Stored) error {
		if s.Event.Payload.Title() == "late badger" {
			keep = append(keep, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Replay(t.Context(), head.Commit, base.Commit, keep); err != nil {
		t.Fatal(err)
	}
	h.level("personal")
	h.events("personal", 2)
	h.found("late", keep[0].ID)
	h.found("refused")
	h.restart(func() {})
	h.level("personal")
	h.events("personal", 2)
	h.noDifference("personal")
}

func TestARedactedEventIsNotInTheIndex(t *testing.T) {
	h := newHome(t, "personal")
	id := h.note("personal", "secret badger")
	h.level("personal")
	h.append("personal", &event.Redact{Target: id, Reason: "leaked"})
	h.level("personal")
	h.found("badger")
	if err := h.k.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.settle("personal")
	h.found("badger")
	h.events("personal", 2)
	h.noDifference("personal")
}

func TestHiddenEventsAreNotInTheIndex(t *testing.T) {
	h := newHome(t, "personal")
	first, second := h.note("personal", "first badger"), h.note("personal", "second badger")
	h.level("personal")
	hidden := func(_ string, id event.ID) bool { return id == first }
	h.close()
	opt := h.options()
	opt.Hidden = hidden
	h.k = catchup.Open(opt)
	h.in = h.attach(h.k)
	if err := h.in["personal"].Drop(t.Context(), []event.ID{first}); err != nil {
		t.Fatal(err)
	}
	h.settle("personal")
	h.found("badger", second)
	if err := h.k.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.found("badger", second)
	h.noDifference("personal")
}

func TestAnEventOfANewerProgramIsKnownAndNotIndexed(t *testing.T) {
	h := newHome(t, "personal")
	bent := &bentLog{Log: h.logs["personal"].(*eventlog.Log)}
	h.restart(func() { h.logs["personal"] = bent })
	bent.newer = h.note("personal", "badger from the future")
	id := h.note("personal", "badger from the past")
	h.level("personal")
	h.found("badger", id)
	h.events("personal", 2)
}

func TestOneProcessWritesAndTheOtherTakesOver(t *testing.T) {
	h := newHome(t, "personal")
	first := h.note("personal", "alpha badger")
	h.level("personal")
	other := catchup.Open(h.options())
	defer other.Close()
	theirs := h.attach(other)["personal"]
	settle(t, theirs) // the owner is level, and what it wrote reaches the disk
	if got := ask(t, other, "badger"); !sameIDs(got, []event.ID{first}) {
		t.Errorf("beside the owner: %v", got)
	}
	second := h.note("personal", "beta badger")
	if err := theirs.Level(t.Context()); !errors.Is(err, catchup.ErrBehind) {
		t.Errorf("while the owner is behind: %v", err)
	}
	theirs.Facts(func(s *projection.Set) {
		if s.Count() != 2 {
			t.Errorf("%d facts", s.Count())
		}
	})
	h.restart(func() { settle(t, theirs) })
	if got := ask(t, other, "badger"); !sameIDs(got, []event.ID{first, second}) {
		t.Errorf("after taking over: %v", got)
	}
}

func TestTheFormerIndexAnswersDuringARebuild(t *testing.T) {
	h := newHome(t, "personal")
	var payloads []event.Payload
	for range 256 {
		payloads = append(payloads, &event.Observe{Summary: "filler"})
	}
	h.append("personal", payloads...)
	id := h.note("personal", "badger")
	h.level("personal")
	done := make(chan error)
	go func() { done <- h.k.Rebuild(t.Context()) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			h.found("badger", id)
			return
		default:
			h.found("badger", id)
		}
	}
}

func TestAClosedKeeperSaysSo(t *testing.T) {
	h := newHome(t, "personal")
	h.close()
	if _, err := h.k.Ask(t.Context(), search.Query{Text: "x"}); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("ask: %v", err)
	}
	if err := h.in["personal"].Level(t.Context()); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("level: %v", err)
	}
	if err := h.k.Rebuild(t.Context()); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("rebuild: %v", err)
	}
	if _, err := h.k.Add(h.logs["personal"]); !errors.Is(err, catchup.ErrClosed) {
		t.Errorf("add: %v", err)
	}
}
