package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
)

// strict is a remote with a clock, as a hub has. It refuses a push for every
// event that comes too early.
type strict struct {
	Remote
	log  *eventlog.Log // where the offers come from
	now  time.Time
	read bool // whether a machine has read the clock
}

func (s *strict) Clock() (time.Time, time.Duration, bool) { return s.now, 0, s.read }

func (s *strict) ReadClock(context.Context) error { s.read = true; return nil }

func (s *strict) Push(ctx context.Context, o Offer) (Pushed, error) {
	g, err := s.log.History(o.Tip)
	if err != nil {
		return Pushed{}, err
	}
	tree, err := g.Tree(o.Tip)
	if err != nil {
		return Pushed{}, err
	}
	ids, err := s.log.AddedIDs(ctx, plumbing.ZeroHash, tree)
	if err != nil {
		return Pushed{}, err
	}
	var no []hubwire.Refusal
	for _, id := range ids {
		if id.Time().Sub(s.now) > event.MaxAhead {
			no = append(no, hubwire.Refusal{Rule: hubwire.RuleClock, Field: "id", Event: id})
		}
	}
	if len(no) > 0 {
		return Pushed{}, &DeclinedError{Refusals: no, Message: "too early"}
	}
	return s.Remote.Push(ctx, o)
}

// saveAt appends events of the given moments.
func (m *machine) saveAt(times ...time.Time) (ids []event.ID) {
	m.t.Helper()
	_, err := m.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) {
		var events []event.Event
		ids = nil // it may be called again
		for i, at := range times {
			e := eventtest.Note(fmt.Sprint(at.UnixNano(), i))
			e.ID, e.Space, e.Classification = event.NewID(at), "team", event.Public
			ids = append(ids, e.ID)
			events = append(events, eventtest.Signed(e, "laptop"))
		}
		return events, nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return ids
}

func (m *machine) ids() []event.ID {
	m.t.Helper()
	h, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	ids, err := m.log.AddedIDs(context.Background(), plumbing.ZeroHash, h.Tree)
	if err != nil {
		m.t.Fatal(err)
	}
	return ids
}

// Whatever the clocks say: a push brings what can go and nothing else, keeps
// the rest in the log with the same bytes, parks nothing, and says how long it
// is until the next can go.
func TestWhatIsEarlyWaitsAndTheRestGoes(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 8))
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t)
			for range 1 + r.IntN(4) {
				w.round(r)
			}
			w.remote.now = w.remote.now.Add(2 * time.Hour)
			w.a.sync()
			w.b.sync()
			w.a.sync()
			if !slices.Equal(w.a.ids(), w.saved) || !slices.Equal(w.b.ids(), w.saved) || w.a.head() != w.b.head() || len(w.a.parked) > 0 {
				t.Errorf("saved %d, a has %d, b has %d, %d parked", len(w.saved), len(w.a.ids()), len(w.b.ids()), len(w.a.parked))
			}
		})
	}
}

// waiting is a machine a whose clock may run ahead, and b, whose clock is right.
type waiting struct {
	t      *testing.T
	remote *strict
	a, b   *machine
	saved  []event.ID // by both, sorted
}

func newWaiting(t *testing.T) *waiting {
	dir, fsys := bare(t, "main"), disktest.Unsynced(disk.OS)
	w := &waiting{t: t, remote: &strict{Remote: Path(fsys, dir), now: time.Now()}}
	w.a, w.b = newMachineOn(t, fsys, w.remote), newMachineOn(t, fsys, Path(fsys, dir))
	w.remote.log = w.a.log
	w.b.sync() // the space has an identity
	return w
}

func (w *waiting) round(r *rand.Rand) {
	w.t.Helper()
	var times []time.Time
	for range r.IntN(6) {
		times = append(times, w.remote.now.Add(time.Duration(r.IntN(90)-30)*time.Minute))
	}
	w.saved = append(w.saved, w.a.saveAt(times...)...)
	if r.IntN(2) == 0 {
		w.saved = append(w.saved, w.b.saveAt(w.remote.now)...)
		w.b.sync()
	}
	if r.IntN(2) == 0 {
		w.a.Replica, w.remote.read = New(w.a.opt), false
	}
	slices.Sort(w.saved)
	_, d := w.a.sync()
	want := w.held()
	if !slices.Equal(d.Held.Events, want.Events) || d.Held.Next != want.Next {
		w.t.Errorf("held %+v, want %+v", d.Held, want)
	}
	w.b.sync()
	if got, want := len(w.b.ids()), len(w.saved)-len(want.Events); got != want {
		w.t.Errorf("%d events arrived, want %d", got, want)
	}
	w.remote.now = w.remote.now.Add(time.Duration(r.IntN(20)) * time.Minute)
}

// held is what has to wait now.
func (w *waiting) held() (h Held) {
	for _, id := range w.saved {
		wait := id.Time().Sub(w.remote.now) - event.MaxAhead
		if wait > 0 && len(h.Events) == 0 {
			h.Next = wait
		}
		if wait > 0 {
			h.Events = append(h.Events, id)
		}
	}
	return h
}
