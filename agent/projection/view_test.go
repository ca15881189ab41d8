package projection_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// ahead puts what the story makes next so far ahead of now.
func (s *story) ahead(d time.Duration) { s.at = now.Add(d) }

// from is a preference of a device's.
func (s *story) from(device, value string) event.ID {
	return s.add(&event.Pref{Category: "style", Key: "indent", Value: value}, by(device))
}

func by(device string) func(*event.Event) {
	return func(e *event.Event) { e.Actor.Device = eventtest.Device(device) }
}

// Nobody has to do anything when the time of an event comes: only the clock
// goes on.
func TestAnEventOfAFastClockWaitsForItsTime(t *testing.T) {
	s := newStory(t)
	tabs := s.pref("tabs")
	note := s.note("x")
	s.ahead(time.Hour)
	spaces := s.pref("spaces")
	archived := s.archive(note)
	next := s.add(&event.Observe{Summary: "y", Supersedes: note})
	s.inForce(tabs)
	s.want(tabs, api.Live)
	s.want(note, api.Live)
	for _, id := range []event.ID{spaces, archived, next} {
		s.want(id, api.Held)
	}
	if got := s.set.Ahead(now); !slices.Equal(got, []event.ID{spaces, archived, next}) {
		t.Errorf("ahead are %v", got)
	}

	its := projection.View{Now: next.Time().Add(-event.MaxAhead)}
	if id, _, _ := s.set.Current(projection.PrefGroup("style", "indent"), its); id != spaces {
		t.Errorf("in force is %s in the end", id)
	}
	for id, want := range map[event.ID]api.State{tabs: api.Superseded, spaces: api.Live, note: api.Archived, next: api.Live} {
		if st, _ := s.set.Standing(id, its); st.State != want {
			t.Errorf("%s is %s in the end, want %s", id.Short(), st.State, want)
		}
	}
	if got := s.set.Ahead(its.Now); len(got) > 0 {
		t.Errorf("ahead are %v in the end", got)
	}
}

// A leaked text must not come up again because a clock was put right.
func TestARedactionDoesNotWait(t *testing.T) {
	s := newStory(t)
	note := s.note("x")
	s.ahead(time.Hour)
	early := s.note("y")
	s.redact(note)
	s.redact(early)
	s.want(note, api.Redacted)
	s.want(early, api.Redacted)
}

// The clock was fast, or is slow now: who can tell? The machine goes on finding
// what it saved, and what is set by the clock of now is in force.
func TestAMachineKeepsFindingWhatItSaved(t *testing.T) {
	s := newStory(t)
	at := projection.View{Now: now, Device: eventtest.Device("laptop")}
	inForce := func(want event.ID) {
		t.Helper()
		if id, _, ok := s.set.Current(projection.PrefGroup("style", "indent"), at); !ok || id != want {
			t.Errorf("in force is %q, want %q", id, want)
		}
	}
	s.ahead(time.Hour)
	s.from("desktop", "theirs")
	own := s.from("laptop", "tabs")
	s.from("desktop", "theirs again")
	inForce(own)
	if st, _ := s.set.Standing(own, at); st.State != api.Live {
		t.Errorf("what the machine saved is %s", st.State)
	}
	s.at = now
	spaces := s.from("laptop", "spaces")
	inForce(spaces)
	if st, _ := s.set.Standing(own, at); st.State != api.Superseded || st.SupersededBy != spaces {
		t.Errorf("what the machine saved before is %+v", st)
	}
}

func TestAnEventThatWaitsHoldsNoKey(t *testing.T) {
	s := newStory(t)
	s.ahead(time.Hour)
	early := s.note("same", keyed("k"), by("desktop"))
	if id, _, held := s.set.LookupKey("k", view); held {
		t.Errorf("the key belongs to %s", id)
	}
	if id, _, held := s.set.LookupKey("k", projection.View{Now: now, Device: eventtest.Device("desktop")}); id != early || !held {
		t.Errorf("on its own machine the key belongs to %q", id)
	}
	s.at = now
	first := s.note("same", keyed("k"))
	s.want(first, api.Live)
}

func TestBeforeItsTimeAnEventIsAsIfItHadNotCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := worlds().Draw(t, "world")
		v := projection.View{Now: now.Add(-event.MaxAhead - time.Duration(rapid.IntRange(0, 31).Draw(t, "clock"))*time.Second)}
		all, come := projection.NewSet(), projection.NewSet()
		var waiting []event.ID
		for _, e := range events {
			all.Add(projection.FactOf(e))
			if f := projection.FactOf(e); e.ID.Time().Sub(v.Now) <= event.MaxAhead || e.Kind == event.KindRedact && f.Acts() {
				come.Add(f)
			} else {
				waiting = append(waiting, e.ID)
			}
		}
		for id, want := range come.EachStanding(api.Filter{}, v) {
			if st, _ := all.Standing(id, v); st != want {
				t.Fatalf("%s is %+v, without those that wait %+v", id, st, want)
			}
		}
		for _, id := range waiting {
			if st, _ := all.Standing(id, v); st.State != api.Held && !all.Redacted(id) {
				t.Fatalf("%s waits and is %s", id, st.State)
			}
		}
		slices.Sort(waiting)
		if got := all.Ahead(v.Now); !slices.Equal(got, waiting) {
			t.Fatalf("ahead are %v, want %v", got, waiting)
		}
	})
}

// However the clocks of machines are set, and whatever they have heard of each
// other: no id is given twice, and each follows all that its machine knows but
// those ahead of its clock.
func TestNoClockGivesAnIDTwice(t *testing.T) {
	type machine struct {
		clock time.Time
		knows *projection.Set
	}
	rapid.Check(t, func(t *rapid.T) {
		given := map[event.ID]bool{}
		var machines []*machine
		for range 3 {
			machines = append(machines, &machine{now, projection.NewSet()})
		}
		one := func(t *rapid.T) *machine { return rapid.SampledFrom(machines).Draw(t, "machine") }
		t.Repeat(map[string]func(*rapid.T){
			"save": func(t *rapid.T) {
				m, e := one(t), eventtest.Note("x")
				e.ID = event.NextID(m.clock, m.knows.Newest(m.clock))
				if given[e.ID] {
					t.Fatalf("%s was given twice", e.ID)
				}
				for _, f := range m.knows.Facts() {
					if !f.ID().Time().After(m.clock.Add(event.MaxAhead)) && e.ID <= f.ID() {
						t.Fatalf("%s does not follow %s", e.ID, f.ID())
					}
				}
				given[e.ID] = true
				m.knows.Add(projection.FactOf(e))
			},
			"hear": func(t *rapid.T) {
				one(t).knows.Add(one(t).knows.Facts()...)
			},
			"set the clock": func(t *rapid.T) {
				m := one(t)
				m.clock = m.clock.Add(time.Duration(rapid.IntRange(-20, 20).Draw(t, "minutes")) * time.Minute)
			},
		})
	})
}
