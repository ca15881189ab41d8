package catchup_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cairn/agent/catchup"
	"cairn/internal/event"
	"cairn/search"
	"cairn/sync/eventlog"
)

func TestWhatIsInTheLogIsFound(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// An older program left an index of its own layout, whose files this one cannot
// read.
func TestAnIndexOfAnOlderProgramIsMadeAnew(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"6\n", "7\n"} {
		h := newHome(t, "personal")
		id := h.note("personal", "badger")
		h.level("personal")
		h.restart(func() {
			files, err := filepath.Glob(filepath.Join(h.index(), "gen-1", "*.s??"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, file := range append(files, filepath.Join(h.index(), "gen-1", "schema")) {
				if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
		if err := h.in["personal"].Level(t.Context()); !errors.Is(err, catchup.ErrBehind) {
			t.Errorf("with layout %q: %v, want ErrBehind", schema, err)
		}
		h.settle("personal")
		h.found("badger", id)
		h.noDifference("personal")
	}
}

func TestAnotherHistoryIsReadAnew(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	var kept event.ID
	_, err = log.Replay(t.Context(), head.Commit, base.Commit, func(put func(eventlog.Stored) error) error {
		return log.Added(t.Context(), base.Tree, head.Tree, func(s eventlog.Stored) error {
			if s.Event.Payload.Title() != "late badger" {
				return nil
			}
			kept = s.ID
			return put(s)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	h.level("personal")
	h.events("personal", 2)
	h.found("late", kept)
	h.found("refused")
	h.restart(func() {})
	h.level("personal")
	h.events("personal", 2)
	h.noDifference("personal")
}

func TestARedactedEventIsNotInTheIndex(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// Whoever took an event out of the index may end before its bytes have left the
// files: the next one sees to that.
func TestWhatIsHiddenLeavesTheDiskAlsoAfterAnEarlyEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	first, second := h.note("personal", "the kqzjxvwqpf of a customer, a badger"), h.note("personal", "second badger")
	h.level("personal")
	hide := func(_ string, id event.ID) bool { return id == first }
	open := func() {
		opt := h.options()
		opt.Hidden = hide
		h.k = catchup.Open(opt)
		h.in = h.attach(h.k)
	}
	h.close()
	open()
	if err := h.in["personal"].Drop(t.Context(), []event.ID{first}); err != nil {
		t.Fatal(err)
	}
	h.close() // within the second that sweepSoon waits
	if !h.inIndexFiles("kqzjxvwqpf") {
		t.Fatal("the text has left the disk already: this shows nothing")
	}
	open()
	h.settle("personal")
	for deadline := time.Now().Add(30 * time.Second); h.inIndexFiles("kqzjxvwqpf"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the text stays on the disk")
		}
	}
	h.found("badger", second)
}

// inIndexFiles says whether any file of the index holds a word.
func (h *home) inIndexFiles(word string) (found bool) {
	h.t.Helper()
	err := filepath.WalkDir(h.index(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		b, err := os.ReadFile(path)
		found = found || bytes.Contains(b, []byte(word))
		return ignoreGone(err)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// ignoreGone is for files that a rewriting index removes meanwhile.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func TestAnEventOfANewerProgramIsKnownAndNotIndexed(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	bent := &bentLog{Log: h.logs["personal"].(*eventlog.Log)}
	h.restart(func() { h.logs["personal"] = bent })
	bent.newer = h.note("personal", "badger from the future")
	id := h.note("personal", "badger from the past")
	h.level("personal")
	h.found("badger", id)
	h.events("personal", 2)
}
