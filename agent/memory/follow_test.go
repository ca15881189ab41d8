package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/longtest"
	"cairn/internal/problem"
	"cairn/search"
)

// A stuckFS lets nobody open a file of the index while it is stuck.
type stuckFS struct {
	disk.FS
	index string
	stuck sync.RWMutex
}

func (f *stuckFS) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	if strings.HasPrefix(name, f.index) {
		f.stuck.RLock()
		defer f.stuck.RUnlock()
	}
	return f.FS.OpenFile(name, flag, perm)
}

// A note is acknowledged when the log has it, whatever keeps the index from it.
func TestSavingDoesNotWaitForTheIndex(t *testing.T) {
	t.Parallel()
	var fsys *stuckFS
	h := newHome(t, anythingGoes, func(opt *memory.Options) {
		fsys = &stuckFS{FS: opt.FS, index: opt.Home.Index()}
		opt.FS = fsys
	})
	want := []event.ID{h.note("badger")}
	fsys.stuck.Lock()
	for i := range 20 {
		r := h.save(note(fmt.Sprint("badger ", i)))
		if r.State != api.Indexed {
			t.Errorf("state %s", r.State)
		}
		want = append(want, r.ID)
	}
	if got := h.log(api.Query{Limit: 50}); len(got) != len(want) {
		t.Errorf("%d notes in the list, want %d", len(got), len(want))
	}
	fsys.stuck.Unlock()
	found := idsOf(h.settled(api.Query{Text: "badger", Limit: 50}).Hits)
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("%d notes are found, want %d", len(found), len(want))
	}
}

// A shared is a memory that is closed and opened again while others use it.
type shared struct {
	*home
	now atomic.Pointer[memory.Service]
}

func newShared(t *testing.T) *shared {
	s := &shared{home: newHome(t, anythingGoes)}
	s.now.Store(s.Service)
	return s
}

func (s *shared) reopen() error {
	if err := s.now.Load().Close(); err != nil {
		return err
	}
	fresh, err := memory.Open(s.opt)
	if err != nil {
		return err
	}
	s.Service = fresh
	for _, log := range s.logs {
		if err := fresh.Attach(log); err != nil {
			return err
		}
	}
	s.now.Store(fresh)
	return nil
}

func (s *shared) save(text string) (event.ID, error) {
	for {
		r, err := s.now.Load().Remember(s.t.Context(), note(text))
		if !isBusy(err) {
			return r.ID, err
		}
	}
}

// ask is what is found; incomplete if the answer says so, or there is none.
func (s *shared) ask(text string) (found []event.ID, incomplete bool, err error) {
	a, err := s.now.Load().Ask(s.t.Context(), api.Query{Text: text, Limit: 1000})
	if isBusy(err) {
		return nil, true, nil
	}
	return idsOf(a.Hits), a.Partial, err
}

// askAsItIs looks into the index without bringing it level.
func (s *shared) askAsItIs(text string) ([]event.ID, bool, error) {
	r, err := search.OpenReader(s.dir.Index())
	if err != nil {
		return nil, true, nil // it is just being written
	}
	defer r.Close()
	found, err := r.Ask(s.t.Context(), search.Query{Text: text, Limit: 1000})
	var ids []event.ID
	for _, h := range found.Hits {
		ids = append(ids, h.ID)
	}
	return ids, false, err
}

func isBusy(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code == problem.Busy
}

// unseen lets several goroutines save, ask, close and open, and returns what an
// ask did not see that was acknowledged before it began. checked is how many
// asks there were whose answers were complete.
func (s *shared) unseen(seed uint64, ask func(string) ([]event.ID, bool, error)) (missed []event.ID, checked int) {
	var mu sync.Mutex
	var acked []event.ID
	fail := func(err error) {
		if err != nil {
			s.t.Error(err)
		}
	}
	look := func() {
		mu.Lock()
		before := slices.Clone(acked)
		mu.Unlock()
		found, incomplete, err := ask("badger")
		fail(err)
		if incomplete || err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		checked++
		for _, id := range before {
			if !slices.Contains(found, id) {
				missed = append(missed, id)
			}
		}
	}
	var all sync.WaitGroup
	for w := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(w)))
		all.Go(func() {
			for i := range 15 {
				switch {
				case w == 0 && r.IntN(5) == 0:
					fail(s.reopen())
				case r.IntN(3) == 0:
					look()
				default:
					id, err := s.save(fmt.Sprintf("badger %d of %d", i, w))
					fail(err)
					mu.Lock()
					acked = append(acked, id)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	look()
	return missed, checked
}

// Every ask sees what was acknowledged before it began, whoever saved it and
// whatever else goes on.
func TestAnAskSeesWhatWasAcknowledgedBefore(t *testing.T) {
	t.Parallel()
	seed := longtest.Seed(t)
	for round := range longtest.Rounds(2, 50) {
		s := newShared(t)
		missed, checked := s.unseen(seed+uint64(round), s.ask)
		if len(missed) > 0 || checked == 0 {
			t.Errorf("round %d: %d asks, which missed %v", round, checked, missed)
		}
	}
}

// The same look finds out asks that do not bring the index level.
func TestAsksOfTheIndexAsItIsAreFoundOut(t *testing.T) {
	t.Parallel()
	seed, asks := longtest.Seed(t), 0
	for round := range uint64(10) { // on a busy machine hardly any ask finds the index readable
		s := newShared(t)
		missed, checked := s.unseen(seed+round, s.askAsItIs)
		if len(missed) > 0 {
			return
		}
		asks += checked
	}
	t.Errorf("%d asks missed nothing", asks)
}

// Notes of one moment keep their order, also in different spaces.
func TestTheOrderOfNotesOfOneMillisecond(t *testing.T) {
	t.Parallel()
	h := newHome(t, anythingGoes, func(opt *memory.Options) { opt.Now = func() time.Time { return day(7) } })
	var want []event.ID
	for i := range 12 {
		d := note(fmt.Sprint("badger ", i))
		d.Space = []string{"personal", "team", "local"}[i%3]
		want = append([]event.ID{h.save(d).ID}, want...)
	}
	if got := h.log(api.Query{}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
