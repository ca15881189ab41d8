package memory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/agent/api"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// Two processes use one home. The second does not get the index; it saves all
// the same, says so, and the first finds what it saved.
func TestASecondProcessSavesAndTheFirstIndexes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.note("badger one")
	other := homeAt(t, string(h.dir))
	r := other.save(note("badger two"))
	if r.State != api.Committed {
		t.Errorf("receipt %+v", r)
	}
	h.finds("badger", r.ID, first)
	other.finds("badger", r.ID, first)
	if again := other.save(note("badger one")); !again.Duplicate || again.ID != first {
		t.Errorf("a note of the first process: %+v", again)
	}
	other.redact(first)
	h.finds("badger", r.ID)
	h.close()
	third := other.note("badger three")
	other.finds("badger", third, r.ID)
}

func TestTwoProcessesWithOneKeySaveOneNote(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other := homeAt(t, string(h.dir))
	var wg sync.WaitGroup
	ids := make([]event.ID, 20)
	for i := range ids {
		wg.Go(func() { ids[i] = []*home{h, other}[i%2].note("badgers dig") })
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("ids %s and %s", id, ids[0])
		}
	}
	h.finds("badgers", ids[0])
}

// What a merge brought is found once Follow was called, or by the next
// question.
func TestWhatAMergeBroughtIsFound(t *testing.T) {
	t.Parallel()
	h, hub := newHome(t), newHome(t)
	first := hub.note("badger one")
	h.appendRaw("personal", hub.exported("personal")[0])
	if err := h.Follow(t.Context(), "personal"); err != nil {
		t.Fatal(err)
	}
	h.finds("badger", first)
	hub.redact(first)
	second := hub.note("badger two")
	for _, raw := range hub.exported("personal") {
		h.appendRaw("personal", raw)
	}
	h.finds("badger", second)
}

// appendRaw puts an event into the log behind the Service's back, as a merge
// does.
func (h *home) appendRaw(space string, raw []byte) {
	h.t.Helper()
	e, err := event.Decode(raw)
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = h.logs[space].Append(h.t.Context(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestNotesSavedDuringARebuildAreAllThere(t *testing.T) {
	t.Parallel()
	h := newHome(t, anythingGoes)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 10 {
				var drafts []api.Draft
				for j := range 25 {
					drafts = append(drafts, note(fmt.Sprintf("badger %d, %d of %d", j, i, w)))
				}
				h.imports(drafts...)
			}
		})
	}
	saved := make(chan struct{})
	go func() { wg.Wait(); close(saved) }()
	for rebuilds := 0; ; rebuilds++ {
		if err := h.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-saved:
			if a := h.settled(api.Query{Text: "badger", Limit: 1000}); len(a.Hits) != 1000 {
				t.Errorf("%d notes after %d rebuilds", len(a.Hits), rebuilds)
			}
			return
		default:
		}
	}
}

func TestSavingGoesOnWithoutAnIndex(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.note("badger one")
	h.close()
	// A file where the folder should be cannot be healed from here.
	if err := os.RemoveAll(h.dir.Index()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir.Index(), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.open()
	r := h.save(note("badger two"))
	if r.State != api.Committed {
		t.Errorf("receipt %+v", r)
	}
	if a := h.ask(api.Query{Text: "badger"}); len(a.Hits) != 0 || a.Note == "" || !a.Partial {
		t.Errorf("answer %+v", a)
	}
	h.close()
	if err := os.Remove(h.dir.Index()); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.finds("badger", r.ID, first)
}

func TestADetachedHeadIsRefusedAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.save(note("badger one"))
	head := filepath.Join(h.dir.Space("personal"), "HEAD")
	if err := os.WriteFile(head, []byte(r.Commit+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := h.refuses(note("badger two"), problem.Detached)
	if !strings.Contains(p.Hint, "symbolic-ref") {
		t.Errorf("problem %+v", p)
	}
	a := h.ask(api.Query{Text: "badger"})
	if a.Note == "" || !a.Partial {
		t.Errorf("answer %+v", a)
	}
	other := note("badger three")
	other.Space = "team"
	h.save(other)
	if err := os.WriteFile(head, []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.save(note("badger two"))
}

func TestAGarbledRefIsNotAnEmptyLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.note("badger one")
	ref := filepath.Join(h.dir.Space("personal"), "refs", "heads", "main")
	whole, err := os.ReadFile(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ref, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.refuses(note("badger two"), problem.GarbledRef)
	if err := os.WriteFile(ref, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	h.note("badger two")
	if n := h.events("personal"); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestASpaceSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.note("badger one")
	r := h.save(note("badger two"))
	h.finds("badger", r.ID, first)
	l, err := h.Level(t.Context(), "personal")
	if err != nil || l.Head.String() != r.Commit || l.Events != 2 || l.Indexed != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	if d, err := h.Compare(t.Context(), "personal"); err != nil || len(d.Missing)+len(d.Extra) != 0 {
		t.Errorf("rows: %+v, %v", d, err)
	}
	if err := os.WriteFile(filepath.Join(h.dir.Space("team"), "HEAD"), []byte(r.Commit+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Level(t.Context(), "team"); problem.Of(err).Code != problem.Detached {
		t.Errorf("with a detached head: %v", err)
	}
}

func TestAClosedServiceSaysSo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.close()
	_, saved := h.Remember(t.Context(), note("x"))
	_, asked := h.Ask(t.Context(), api.Query{Text: "x"})
	_, listed := h.Log(t.Context(), api.Query{})
	_, resolved := h.Show(t.Context(), "zzzzzz", false)
	for name, err := range map[string]error{
		"save": saved, "ask": asked, "log": listed, "show": resolved, "follow": h.Follow(t.Context(), "personal"),
		"rebuild": h.Rebuild(t.Context()), "attach": h.Attach(h.logs["personal"]),
	} {
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.Busy {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The list of refused notes is one for all processes of a home.
func TestTheListOfRefusedNotesIsShared(t *testing.T) {
	t.Parallel()
	h := newHome(t, noSwordfish)
	other := homeAt(t, string(h.dir), noSwordfish)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { []*home{h, other}[i%2].refuses(note(fmt.Sprint(hiddenWord, i)), problem.Secret) })
	}
	wg.Wait()
	if list, err := h.Refused(t.Context()); err != nil || len(list) != 10 {
		t.Errorf("%d refused, %v", len(list), err)
	}
	if err := disk.OS.Remove(h.dir.Refused()); err != nil {
		t.Fatal(err)
	}
	if list, err := other.Refused(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d refused, %v", len(list), err)
	}
}
