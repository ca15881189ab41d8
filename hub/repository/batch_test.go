package repository_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/gitstore"
	"cairn/sync/history"
)

// hold keeps pushes from landing until the returned function is called.
func (h *hub) hold() (release func()) {
	h.t.Helper()
	s, err := gitstore.Open(disk.OS, h.repo())
	if err != nil {
		h.t.Fatal(err)
	}
	lock, err := s.Lock(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return func() {
		if err := errors.Join(lock.Unlock(), s.Close()); err != nil {
			h.t.Error(err)
		}
	}
}

// waitFor waits until so many pushes wait to land.
func (h *hub) waitFor(n int) {
	h.t.Helper()
	for range 3000 {
		if h.team.Waiting() == n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Fatalf("%d pushes wait, want %d", h.team.Waiting(), n)
}

func (h *hub) packs() []string {
	h.t.Helper()
	packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
	if err != nil {
		h.t.Fatal(err)
	}
	return packs
}

// Pushes that wait for each other land together: a chain of merges in the order
// of their commits, one pack, one move of the branch. One that is refused gets
// its own no, and the others do not feel it.
func TestPushesThatWaitLandTogether(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 16})
	var machines []*machine
	for i := range 5 {
		name := fmt.Sprint("machine", i)
		h.enrol(fmt.Sprint("person", i), devices.Write, name)
		machines = append(machines, h.clone(name))
	}
	shared := eventtest.Signed(machines[0].event("one text"), "machine0")
	other := shared
	other.Payload = &event.Observe{Summary: "a note", Content: "another text"}
	other = eventtest.Signed(other, "machine4")
	machines[0].append(shared)
	machines[4].append(other) // the same id with other bytes
	for i, m := range machines[1:4] {
		for range i + 1 {
			m.note("from " + m.name)
		}
	}
	before, start := h.packs(), h.head()
	w := h.set.Feed().Watch(h.team)
	defer w.Close()
	release := h.hold()
	answers := make([]answer, len(machines))
	var pushing sync.WaitGroup
	for i, m := range machines {
		pushing.Go(func() { answers[i] = m.push(repository.ForMain) })
	}
	h.waitFor(len(machines))
	release()
	pushing.Wait()

	refused := 0
	for i, a := range answers {
		if a.err == nil {
			a.mustBeTaken(t)
			if a.outcome.Head != h.head() {
				t.Errorf("machine %d was told %s, main is %s", i, a.outcome.Head, h.head())
			}
			continue
		}
		refused++
		if i != 0 && i != 4 || !slices.Equal(a.rules(), []string{"conflicting-path"}) {
			t.Errorf("machine %d was refused: %v, %v", i, a.err, a.rules())
		}
	}
	if refused != 1 {
		t.Errorf("%d pushes were refused, want one of the two that conflict", refused)
	}
	if c := <-w.Changes; c.New != h.head() || len(w.Changes) > 0 {
		t.Errorf("the branch moved more than once: first to %s, then %d times", c.New, len(w.Changes))
	}
	if after := h.packs(); len(after) != len(before)+1 {
		t.Errorf("%d packs became %d", len(before), len(after))
	}
	if got := len(h.events()); got != 7 {
		t.Errorf("%d events, want 7", got)
	}
	if !h.asTheyAre() {
		t.Error("the pack holds something that the branch does not lead to")
	}
	h.chained(start.String())
	h.fsck()
}

// chained checks that main is a chain of merges of two, down to start.
func (h *hub) chained(start string) {
	h.t.Helper()
	s, err := gitstore.Open(disk.OS, h.repo())
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	g := history.New(s)
	if err := g.Add(h.head()); err != nil {
		h.t.Fatal(err)
	}
	merges := 0
	for at := h.head(); ; {
		parents, err := g.Parents(at)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(parents) != 2 {
			break
		}
		merges++
		// One of the two is the rest of the chain, the other a machine's events.
		at = parents[0]
		if p, err := g.Parents(parents[1]); err == nil && len(p) == 2 {
			at = parents[1]
		}
	}
	if merges != 3 {
		h.t.Errorf("%d merges down to %s, want 3", merges, start)
	}
}

// A client that gives up while its push waits does not take the others along.
func TestWhoGivesUpWaitingLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 16, Whole: 700 * time.Millisecond})
	h.enrol("ben", devices.Write, "tower")
	laptop, tower := h.clone("laptop"), h.clone("tower")
	laptop.note("gives up")
	tower.note("stays")
	release := h.hold()
	gone := make(chan answer, 1)
	go func() { gone <- laptop.push(repository.ForMain) }()
	h.waitFor(1)
	if a := <-gone; a.err == nil || a.outcome.Taken {
		t.Errorf("the push that took too long: %v, %+v", a.err, a.outcome)
	}
	h.waitFor(0)
	stays := make(chan answer, 1)
	go func() { stays <- tower.push(repository.ForMain) }()
	h.waitFor(1)
	release()
	(<-stays).mustBeTaken(t)
	if got := len(h.events()); got != 1 {
		t.Errorf("%d events, want 1", got)
	}
}
