package catchup_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"cairn/agent/catchup"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
)

// saved appends a note as a memory does, and lets the space know.
func (h *home) saved(space, text string) (id event.ID) {
	h.t.Helper()
	var base eventlog.Head
	done, err := appender(h.logs[space]).Append(h.t.Context(), func(head eventlog.Head) ([]event.Event, error) {
		base = head
		e := eventtest.Of(&event.Observe{Summary: text})
		e.Space, e.Ref = space, head.Ref
		e = eventtest.Signed(e, "laptop")
		id = e.ID
		return []event.Event{e}, nil
	})
	if err == nil {
		err = h.in[space].Appended(base, done)
	}
	if err != nil {
		h.t.Error(err)
	}
	return id
}

// becomesIndexed waits until the index has so many events. Nobody asks or calls
// Level meanwhile.
func (h *home) becomesIndexed(space string, want int) {
	h.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		n, err := h.in[space].Indexed()
		if err == nil && n == want {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%d events are indexed, %v, want %d", n, err, want)
		}
	}
}

// Whoever appends lets the index follow in the background, and it follows to
// the last event, whoever else is at work on it.
func TestTheIndexFollowsByItself(t *testing.T) {
	t.Parallel()
	seed := longtest.Seed(t)
	h := newHome(t, "personal", "team")
	h.level("personal")
	h.level("team")
	const each = 40
	var all sync.WaitGroup
	for w := range 3 {
		r := rand.New(rand.NewPCG(seed, uint64(w)))
		all.Go(func() {
			for i := range each {
				space := []string{"personal", "team"}[i%2]
				h.saved(space, fmt.Sprintf("badger %d of %d", i, w))
				h.in[space].LevelSoon()
				switch r.IntN(8) {
				case 0:
					if err := h.in[space].Level(h.t.Context()); err != nil {
						t.Error(err)
					}
				case 1:
					h.note(space, "badger of another process")
					h.saved(space, "another badger")
					h.in[space].LevelSoon()
				}
			}
		})
	}
	all.Wait()
	for _, space := range []string{"personal", "team"} {
		want := h.eventsIn(space)
		if want < 3*each/2 {
			t.Errorf("%d events in %s", want, space)
		}
		h.becomesIndexed(space, want)
		if n := h.in[space].Mark().Events; n != want {
			t.Errorf("%d facts of %d events", n, want)
		}
		if got := h.in[space].Following(); got != catchup.Follows {
			t.Errorf("following: %d", got)
		}
		h.level(space)
		h.noDifference(space)
	}
}

// eventsIn is how many events the log of a space has.
func (h *home) eventsIn(space string) (n int) {
	h.t.Helper()
	head, err := h.logs[space].Head()
	if err == nil {
		err = h.logs[space].Added(h.t.Context(), [20]byte{}, head.Tree, func(eventlog.Stored) error { n++; return nil })
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// What was left to the background is done at the end.
func TestTheEndDoesNotWaitForThePause(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	h.note("personal", "badger")
	h.level("personal")
	id := h.saved("personal", "young badger")
	h.in["personal"].LevelSoon()
	h.restart(func() {})
	if n, err := h.in["personal"].Indexed(); err != nil || n != 2 {
		t.Errorf("%d indexed, %v", n, err)
	}
	h.found("young", id)
}

func TestAnIndexOfAnotherProcessDoesNotFollow(t *testing.T) {
	t.Parallel()
	h := newHome(t, "personal")
	if got := h.in["personal"].Following(); got != catchup.Unknown {
		t.Errorf("before anybody looked: %d", got)
	}
	h.note("personal", "badger")
	h.level("personal")
	other := catchup.Open(h.options())
	defer other.Close()
	theirs := h.attach(other)["personal"]
	settle(t, theirs)
	if got := theirs.Following(); got != catchup.Lags {
		t.Errorf("beside the owner: %d", got)
	}
	if got := h.in["personal"].Following(); got != catchup.Follows {
		t.Errorf("the owner: %d", got)
	}
}
