package memory_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
)

// A clock shows what it was set to.
type clock struct{ ms atomic.Int64 }

func (c *clock) set(at time.Time) { c.ms.Store(at.UnixMilli()) }
func (c *clock) now() time.Time   { return time.UnixMilli(c.ms.Load()) }

func (c *clock) use(o *memory.Options) { o.Now = c.now }

// An event of a machine whose clock runs ahead is in the log and the index, and
// in no answer before its time has come. Then it is there without anybody doing
// anything.
func TestAnEarlyEventIsShownInItsTime(t *testing.T) {
	t.Parallel()
	var c clock
	c.set(day(2))
	h := newHome(t, c.use)
	now, later := h.note("badger now"), event.NewID(day(2).Add(event.MaxAhead+time.Minute))
	h.arrives("personal", later, "badger later")
	for range 2 {
		h.finds("badger", now)
		h.findsIn(api.Query{Text: "badger", All: true, Limit: 50}, now)
		if got := h.log(api.Query{All: true}); !slices.Equal(got, []event.ID{now}) {
			t.Errorf("shown before its time: %v", got)
		}
		if s := h.show(string(later)); s.State != api.Held {
			t.Errorf("it is %s", s.State)
		}
		if got, err := h.Ahead("personal"); err != nil || !slices.Equal(got, []event.ID{later}) {
			t.Errorf("ahead: %v, %v", got, err)
		}
		h.restart()
	}
	c.set(day(2).Add(time.Minute))
	h.finds("badger later", later, now)
	if got := h.log(api.Query{}); !slices.Equal(got, []event.ID{later, now}) {
		t.Errorf("not shown in its time: %v", got)
	}
	if got, err := h.Ahead("personal"); err != nil || len(got) > 0 {
		t.Errorf("still ahead: %v, %v", got, err)
	}
}

// arrives puts an event of another machine into a log, as a pull does.
func (h *home) arrives(space string, id event.ID, text string) {
	h.t.Helper()
	e := eventtest.Note(text)
	e.ID, e.Space = id, space
	_, err := h.logs[space].Append(h.t.Context(), func(eventlog.Head) ([]event.Event, error) {
		return []event.Event{eventtest.Signed(e, "desktop")}, nil
	})
	if err == nil {
		err = h.Follow(h.t.Context(), space)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// However somebody sets the clock, and although the machine restarts each time:
// what is saved stays, no id is given twice, and as long as the clock is not
// more than event.MaxAhead behind, later is greater.
func TestNoClockGivesAnIDTwice(t *testing.T) {
	t.Parallel()
	var c clock
	c.set(day(10))
	h := newHome(t, c.use)
	saved := map[event.ID]bool{}
	for i, by := range []time.Duration{0, -9 * time.Minute, -30 * time.Hour, 11 * time.Minute, 80 * time.Hour, -time.Second, -time.Hour} {
		c.set(c.now().Add(by))
		h.restart()
		newest := newestBefore(saved, c.now().Add(event.MaxAhead))
		id := h.note(fmt.Sprintf("note %d", i))
		if saved[id] || id <= newest {
			t.Errorf("%s was given, after %s", id, newest)
		}
		saved[id] = true
		if got := len(h.log(api.Query{All: true})); got != len(saved) {
			t.Errorf("%d notes are shown of %d", got, len(saved))
		}
	}
}

func newestBefore(ids map[event.ID]bool, limit time.Time) (newest event.ID) {
	for id := range ids {
		if id > newest && !id.Time().After(limit) {
			newest = id
		}
	}
	return newest
}
