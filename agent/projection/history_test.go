package projection_test

import (
	"slices"
	"testing"

	"cairn/agent/projection"
	"cairn/internal/event"
)

func TestHistoryIsTheChainOldestFirst(t *testing.T) {
	s := newStory(t)
	first := s.note("first")
	second := s.add(&event.Observe{Summary: "second", Supersedes: first})
	archived := s.archive(second)
	third := s.note("third", func(e *event.Event) { e.Parent = second })
	chained := s.note("chained", func(e *event.Event) { e.Chain = first })
	s.note("alone")
	want := []event.ID{first, second, archived, third, chained}
	for _, id := range want {
		if got := s.set.History(id); !slices.Equal(got, want) {
			t.Errorf("history of %s: %v, want %v", id.Short(), got, want)
		}
	}
	a, b := s.pref("tabs"), s.pref("spaces")
	if got := s.set.History(b); !slices.Equal(got, []event.ID{a, b}) {
		t.Errorf("history of a preference: %v", got)
	}
	if got := s.set.History(event.NewID(now)); got != nil {
		t.Errorf("history of nothing: %v", got)
	}
}

func TestAnActThatWasDoneIsDone(t *testing.T) {
	s := newStory(t)
	note := s.note("x")
	act := func(direction string) projection.Fact {
		return projection.FactOf(s.make(&event.Archive{Target: note, Direction: direction}))
	}
	done := func(f projection.Fact, want event.ID) {
		t.Helper()
		if id, ok := s.set.Done(f, view); id != want || ok != (want != "") {
			t.Errorf("done by %q, want %q", id, want)
		}
	}
	done(act(event.DirectionArchive), "")
	archive := s.archive(note)
	done(act(event.DirectionArchive), archive)
	done(act(event.DirectionRestore), "")
	restore := s.restore(note)
	done(act(event.DirectionArchive), "")
	done(act(event.DirectionRestore), restore)
	redact := projection.FactOf(s.make(&event.Redact{Target: note, Reason: "r"}))
	done(redact, "")
	done(redact, s.redact(note))
	done(projection.FactOf(s.make(&event.Observe{Summary: "x"})), "")
}
