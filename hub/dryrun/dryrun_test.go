package dryrun_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cairn/hub/dryrun"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// A shelf is spaces in memory. What is read of each is counted.
type shelf struct {
	mu      sync.Mutex
	spaces  []string
	held    map[string][][]byte
	read    map[string]int
	fails   map[string]error
	counted string
	stalls  chan struct{} // reading waits for it, if it is not nil
}

func newShelf(names ...string) *shelf {
	return &shelf{spaces: names, held: map[string][][]byte{}, read: map[string]int{}, fails: map[string]error{}}
}

// stalling is a shelf of which half of ten events can be read until its stalls
// are closed.
func stalling(t testing.TB) *shelf {
	s := newShelf("team")
	s.add(t, "team", 10)
	s.stalls = make(chan struct{})
	return s
}

func (s *shelf) add(t testing.TB, space string, n int) {
	t.Helper()
	for range n {
		e := eventtest.Note("hello")
		e.Space, e.Classification = "team", event.Public
		stored, err := event.Encode(eventtest.Signed(e, "laptop"))
		if err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		s.held[space] = append(s.held[space], stored)
		s.mu.Unlock()
	}
}

func (s *shelf) list(context.Context) (list []dryrun.Space, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.spaces {
		list = append(list, dryrun.Space{Name: name, Key: name, Counted: name == s.counted, EventsAfter: s.after(name)})
	}
	return list, s.fails[""]
}

// after has one moment only: the beginning. Each reading is of everything that
// was not read before, as a repository's is that is gone on with.
func (s *shelf) after(name string) func(context.Context, repository.Moment, func([]byte) error) (repository.Moment, error) {
	return func(ctx context.Context, from repository.Moment, fn func([]byte) error) (repository.Moment, error) {
		s.mu.Lock()
		events, stalls, fails := s.held[name][s.read[name]:], s.stalls, s.fails[name]
		if errors.Is(fails, repository.ErrPurgedSince) {
			s.read[name] = 0
			s.mu.Unlock()
			return from, fails
		}
		s.mu.Unlock()
		for i, e := range events {
			if stalls != nil && i == len(events)/2 {
				select {
				case <-stalls:
				case <-ctx.Done():
					return from, ctx.Err()
				}
			}
			if err := fn(e); err != nil {
				return from, err
			}
			s.mu.Lock()
			s.read[name]++
			s.mu.Unlock()
		}
		return from, fails
	}
}

func (s *shelf) runner(t *testing.T, o dryrun.Options) *dryrun.Runner {
	o.Spaces = s.list
	if o.Now == nil {
		o.Now = time.Now
	}
	r := dryrun.New(o)
	t.Cleanup(r.Close)
	return r
}

// try tries a file that takes only the kinds.
func try(t testing.TB, r *dryrun.Runner, kinds string) *dryrun.Trial {
	t.Helper()
	text := fmt.Appendf(nil, "version: 1\nteam: acme\nadmins: [ana]\nkinds: [%s]\n", kinds)
	f, err := rules.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r.Try(dryrun.Key{File: versions.HashOf(text)}, policy.Default(), f.Rules(rules.Options{}))
}

const long = time.Minute

func result(t testing.TB, of *dryrun.Trial, wait time.Duration) dryrun.Result {
	t.Helper()
	r, err := of.Result(t.Context(), wait)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func events(r dryrun.Result) (tried, refused int) {
	for _, s := range r.Spaces {
		tried += s.Events
		refused += s.Counts.NewlyRefused
	}
	return tried, refused
}

func is(t testing.TB, r dryrun.Result, complete bool, tried, refused int) {
	t.Helper()
	if gotTried, gotRefused := events(r); r.Complete != complete || gotTried != tried || gotRefused != refused {
		t.Errorf("complete %v, %d tried, %d refused, untried %q; want %v, %d, %d", r.Complete, gotTried, gotRefused, r.Untried, complete, tried, refused)
	}
}

// What was tried is not tried again, what has come since is.
func TestOnlyWhatHasComeSinceIsTriedAgain(t *testing.T) {
	s := newShelf("docs", "team")
	s.add(t, "docs", 3)
	s.add(t, "team", 4)
	r := s.runner(t, dryrun.Options{})
	of := try(t, r, "claim")
	is(t, result(t, of, long), true, 7, 7)
	is(t, result(t, try(t, r, "claim"), long), true, 7, 7)
	s.add(t, "team", 2)
	is(t, result(t, of, long), true, 9, 9)
	if s.read["team"] != 6 {
		t.Errorf("%d read", s.read["team"])
	}
	s.read = map[string]int{} // another file begins anew
	is(t, result(t, try(t, r, "observe"), long), true, 9, 0)
}

// Whoever does not wait is told what is there, and the run goes on.
func TestWhoeverDoesNotWaitFindsItFurtherTheNextTime(t *testing.T) {
	s := stalling(t)
	r := s.runner(t, dryrun.Options{})
	of := try(t, r, "claim")
	for got := (dryrun.Result{}); ; {
		if got = result(t, of, time.Millisecond); got.Complete {
			t.Fatal("it is complete before it was read")
		}
		if n, _ := events(got); n == 5 {
			break
		}
	}
	close(s.stalls)
	is(t, result(t, of, long), true, 10, 10)
}

func TestWhoeverLeavesEndsNothing(t *testing.T) {
	s := stalling(t)
	of := try(t, s.runner(t, dryrun.Options{}), "claim")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := of.Result(ctx, long); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(s.stalls)
	is(t, result(t, of, long), true, 10, 10)
}

// Another file takes the place of one that is under way; a hub that closes ends
// both.
func TestOneFileIsTriedAtATime(t *testing.T) {
	s := stalling(t)
	r := s.runner(t, dryrun.Options{})
	first := try(t, r, "claim")
	if result(t, first, time.Millisecond).Complete {
		t.Fatal("it does not stall")
	}
	second := try(t, r, "observe")
	if got := result(t, first, long); got.Complete || len(got.Untried) > 0 { // its run has ended
		t.Errorf("%+v", got)
	}
	r.Close()
	if got := result(t, second, long); got.Complete {
		t.Errorf("after the end: %+v", got)
	}
}

// A space that cannot be read to its end is named, and keeps no other away; the
// next pass goes on where it broke off and counts nothing twice.
func TestASpaceThatCannotBeReadIsNamed(t *testing.T) {
	s := newShelf("docs", "team")
	s.add(t, "docs", 3)
	s.add(t, "team", 4)
	s.fails["docs"] = errors.New("damaged")
	of := try(t, s.runner(t, dryrun.Options{}), "claim")
	for range 2 {
		got := result(t, of, long)
		if is(t, got, false, 7, 7); len(got.Untried) != 1 || got.Untried[0] != "docs" {
			t.Errorf("%q", got.Untried)
		}
	}
	s.fails["docs"] = nil
	is(t, result(t, of, long), true, 7, 7)
	s.fails[""] = errors.New("no list")
	if got := result(t, of, long); got.Complete {
		t.Errorf("%+v", got)
	}
}

func TestAPassHasAnEnd(t *testing.T) {
	s := stalling(t)
	of := try(t, s.runner(t, dryrun.Options{Limit: 10 * time.Millisecond}), "claim")
	got := result(t, of, long)
	if is(t, got, false, 5, 5); len(got.Untried) > 0 {
		t.Errorf("the space is blamed: %q", got.Untried)
	}
}

// A space that takes longer than a pass may is tried to its end all the same: each
// pass goes on where the one before had to end.
func TestAPassGoesOnWhereTheLastOneEnded(t *testing.T) {
	s := stalling(t)
	of := try(t, s.runner(t, dryrun.Options{Limit: 10 * time.Millisecond}), "claim")
	for _, so := range []int{5, 7, 8} { // half of what was left, each time
		is(t, result(t, of, long), false, so, so)
	}
	close(s.stalls)
	s.add(t, "team", 1)
	for range 100 { // a pass is short
		if got := result(t, of, long); got.Complete {
			is(t, got, true, 11, 11)
			return
		}
	}
	t.Error("it came to no end")
}

// After a purge the space is tried anew: what is gone is not counted.
func TestAPurgeBeginsTheSpaceAnew(t *testing.T) {
	s := newShelf("team")
	s.add(t, "team", 3)
	r := s.runner(t, dryrun.Options{})
	of := try(t, r, "claim")
	is(t, result(t, of, long), true, 3, 3)
	s.mu.Lock()
	s.held["team"], s.read["team"] = s.held["team"][:1], 0
	s.fails["team"] = repository.ErrPurgedSince
	s.mu.Unlock()
	if got := result(t, of, long); got.Complete {
		t.Errorf("%+v", got)
	}
	s.fails["team"] = nil
	is(t, result(t, of, long), true, 1, 1)
}

// However much there is to try, what is kept of it stays small: a few hundred of
// each list, and none of what is counted only.
func TestATrialOfManyEventsStaysSmall(t *testing.T) {
	s := newShelf("own", "team")
	s.add(t, "team", 1)
	one := s.held["team"][0]
	for range 400 {
		s.held["team"] = append(s.held["team"], one)
		s.held["own"] = append(s.held["own"], one)
	}
	s.counted = "own"
	got := result(t, try(t, s.runner(t, dryrun.Options{}), "claim"), long)
	is(t, got, true, 801, 801)
	for i, most := range []int{1, 200} {
		if r := got.Spaces[i]; len(r.NewlyRefused) != most || len(r.Reported)+len(r.Unsigned)+len(r.Expiring)+len(r.OverLimit) > most {
			t.Errorf("%s: %d are listed", r.Name, len(r.NewlyRefused))
		}
	}
}

func TestAnyNumberMayAskAtOnce(t *testing.T) {
	s := newShelf("docs", "team")
	s.add(t, "docs", 20)
	r := s.runner(t, dryrun.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			of := try(t, r, "claim")
			for range 5 {
				s.add(t, "team", 1)
				if got, err := of.Result(t.Context(), long); err != nil || !got.Complete {
					t.Errorf("%+v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
	is(t, result(t, try(t, r, "claim"), long), true, 60, 60)
}

// What was found long ago is not believed: an exception may have ended since.
func TestVerdictsGrowOld(t *testing.T) {
	s := newShelf("team")
	s.add(t, "team", 4)
	now := time.Now()
	r := s.runner(t, dryrun.Options{Now: func() time.Time { return now }})
	is(t, result(t, try(t, r, "claim"), long), true, 4, 4)
	now = now.Add(2 * time.Hour)
	s.read = map[string]int{} // it is read from the beginning
	is(t, result(t, try(t, r, "claim"), long), true, 4, 4)
	if s.read["team"] != 4 {
		t.Errorf("%d were read again", s.read["team"])
	}
}

// A run that ends in a panic counts nothing twice when it is gone on with.
func TestAPanicCountsNothingTwice(t *testing.T) {
	s := newShelf("team")
	s.add(t, "team", 4)
	panics := true
	list := func(ctx context.Context) ([]dryrun.Space, error) {
		spaces, err := s.list(ctx)
		after := spaces[0].EventsAfter
		spaces[0].EventsAfter = func(ctx context.Context, from repository.Moment, fn func([]byte) error) (repository.Moment, error) {
			to, err := after(ctx, from, fn)
			if panics {
				s.read["team"] = 0
				panic("on the way")
			}
			return to, err
		}
		return spaces, err
	}
	r := dryrun.New(dryrun.Options{Spaces: list, Now: time.Now})
	t.Cleanup(r.Close)
	of := try(t, r, "claim")
	is(t, result(t, of, long), false, 4, 4)
	panics = false
	is(t, result(t, of, long), true, 4, 4)
}
