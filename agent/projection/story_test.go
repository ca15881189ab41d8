package projection_test

import (
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

var (
	now  = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	view = projection.View{Now: now}
)

// A story makes events one second after another, the last one just before now.
type story struct {
	t   *testing.T
	set *projection.Set
	at  time.Time
}

func newStory(t *testing.T) *story {
	return &story{t: t, set: projection.NewSet(), at: now.Add(-time.Hour)}
}

func (s *story) make(p event.Payload, change ...func(*event.Event)) event.Event {
	s.at = s.at.Add(time.Second)
	e := eventtest.Of(p)
	e.ID, e.Observed = event.NewID(s.at), event.NewTime(s.at)
	for _, c := range change {
		c(&e)
	}
	return e
}

func (s *story) add(p event.Payload, change ...func(*event.Event)) event.ID {
	e := s.make(p, change...)
	s.set.Add(projection.FactOf(e))
	return e.ID
}

func (s *story) note(text string, change ...func(*event.Event)) event.ID {
	return s.add(&event.Observe{Summary: text}, change...)
}

func (s *story) pref(value string) event.ID {
	return s.add(&event.Pref{Category: "style", Key: "indent", Value: value})
}

func (s *story) redact(id event.ID) event.ID {
	return s.add(&event.Redact{Target: id, Reason: "leaked"})
}

func (s *story) archive(id event.ID) event.ID {
	return s.add(&event.Archive{Target: id, Direction: event.DirectionArchive})
}

func (s *story) restore(id event.ID) event.ID {
	return s.add(&event.Archive{Target: id, Direction: event.DirectionRestore})
}

func (s *story) want(id event.ID, state api.State) projection.Standing {
	s.t.Helper()
	st, ok := s.set.Standing(id, view)
	if !ok || st.State != state {
		s.t.Errorf("%s is %q (known: %v), want %q", id.Short(), st.State, ok, state)
	}
	if s.set.Visible(id, view) != (state == api.Live) {
		s.t.Errorf("%s: Visible disagrees with the state %q", id.Short(), state)
	}
	return st
}

func (s *story) inForce(want event.ID) {
	s.t.Helper()
	if id, _, ok := s.set.Current(projection.PrefGroup("style", "indent"), view); id != want || ok != (want != "") {
		s.t.Errorf("in force is %q, want %q", id, want)
	}
}

func keyed(key string) func(*event.Event) { return func(e *event.Event) { e.Key = key } }

func TestRedactingAPreferenceBringsTheFormerOneBack(t *testing.T) {
	s := newStory(t)
	a, b := s.pref("tabs"), s.pref("spaces")
	s.inForce(b)
	if st := s.want(a, api.Superseded); st.SupersededBy != b {
		t.Errorf("superseded by %s", st.SupersededBy)
	}
	s.redact(b)
	s.inForce(a)
	s.want(a, api.Live)
	s.want(b, api.Redacted)
	s.redact(a)
	s.inForce("")
}

func TestBackToAFormerValueIsAThirdEvent(t *testing.T) {
	s := newStory(t)
	first, other, again := s.pref("tabs"), s.pref("spaces"), s.pref("tabs")
	s.inForce(again)
	s.want(first, api.Superseded)
	s.want(other, api.Superseded)
	s.want(again, api.Live)
	if projection.Key(s.make(&event.Pref{Category: "a", Key: "b", Value: "c"})) != "" {
		t.Error("a preference got an idempotency key by itself")
	}
}

func TestGroupsDoNotRunIntoEachOther(t *testing.T) {
	s := newStory(t)
	a := s.add(&event.Pref{Category: "a/b", Key: "c", Value: "1"})
	b := s.add(&event.Pref{Category: "a", Key: "b/c", Value: "2"})
	c := s.add(&event.Claim{SchemaType: "fact", Key: "a/b/c", Content: "3"})
	for _, id := range []event.ID{a, b, c} {
		s.want(id, api.Live)
	}
}

func TestARedactionIsNeverUndone(t *testing.T) {
	s := newStory(t)
	note := s.note("the plan")
	redaction := s.redact(note)
	s.redact(redaction)
	s.restore(note)
	s.add(&event.Observe{Summary: "next", Supersedes: note})
	s.want(note, api.Redacted)
	s.want(redaction, api.Redacted)
}

func TestSupersedingHoldsByReferenceWhateverTheOrder(t *testing.T) {
	s := newStory(t)
	old := s.make(&event.Observe{Summary: "old"})
	young := s.add(&event.Observe{Summary: "young", Supersedes: old.ID})
	s.set.Add(projection.FactOf(old))
	if st := s.want(old.ID, api.Superseded); st.SupersededBy != young {
		t.Errorf("superseded by %q", st.SupersededBy)
	}
	s.archive(young)
	s.want(old.ID, api.Superseded)
}

func TestTwoSupersedersAreBothLive(t *testing.T) {
	s := newStory(t)
	old := s.note("old")
	a := s.add(&event.Observe{Summary: "a", Supersedes: old})
	b := s.add(&event.Observe{Summary: "b", Supersedes: old})
	s.want(a, api.Live)
	s.want(b, api.Live)
	s.redact(b)
	if st := s.want(old, api.Superseded); st.SupersededBy != a {
		t.Errorf("superseded by %q, want the one that is left", st.SupersededBy)
	}
	s.redact(a)
	s.want(old, api.Live)
}

func TestTheNewestActDecidesWhetherSomethingIsArchived(t *testing.T) {
	s := newStory(t)
	note := s.note("x")
	s.archive(note)
	s.want(note, api.Archived)
	back := s.restore(note)
	s.want(note, api.Live)
	s.redact(back)
	s.want(note, api.Archived)
}

func TestUnderOneKeyTheSmallestIDIsLive(t *testing.T) {
	s := newStory(t)
	first := s.note("same", keyed("k"))
	second := s.note("same", keyed("k"))
	holder := func(want event.ID) {
		t.Helper()
		if id, _, ok := s.set.LookupKey("k", view); id != want || ok != (want != "") {
			t.Errorf("the key belongs to %q, want %q", id, want)
		}
	}
	holder(first)
	if st := s.want(second, api.Superseded); st.SupersededBy != first {
		t.Errorf("superseded by %q", st.SupersededBy)
	}
	s.archive(first)
	s.want(second, api.Live)
	holder(second)
	s.add(&event.Observe{Summary: "next", Supersedes: second})
	holder("")
	third := s.note("same", keyed("k"))
	holder(third)
	s.redact(third)
	holder("")
	content := projection.ContentOf(s.make(&event.Observe{Summary: "same"}))
	if _, ok := s.set.Said("k", content); !ok {
		t.Error("nobody said it, once the key is free")
	}
	if _, ok := s.set.Said("k2", content); ok {
		t.Error("said under a key that was never used")
	}
	s.restore(first)
	holder(first)
}

func TestAKeyAndAGroupDoNotCancelEachOther(t *testing.T) {
	s := newStory(t)
	set := func() event.ID {
		return s.add(&event.Pref{Category: "style", Key: "indent", Value: "tabs"}, keyed("k"))
	}
	a, b := set(), set()
	s.inForce(b)
	s.want(a, api.Superseded)
	s.want(b, api.Live)
}

func TestVerdictsMark(t *testing.T) {
	s := newStory(t)
	note := s.note("the earth is flat")
	refuted := s.add(&event.Verify{Target: note, Verdict: event.Refuted})
	if st := s.want(note, api.Live); st.Verdict != event.Refuted || !s.set.Refuted(note, view) {
		t.Errorf("verdict %q", st.Verdict)
	}
	s.add(&event.Verify{Target: note, Verdict: event.Uncertain})
	if st := s.want(note, api.Live); st.Verdict != event.Uncertain {
		t.Errorf("verdict %q, want the newest", st.Verdict)
	}
	s.redact(refuted)
	if st := s.want(refuted, api.Redacted); st.Verdict != "" {
		t.Errorf("a verification has the verdict %q", st.Verdict)
	}
}

func TestAClaimRunsOut(t *testing.T) {
	s := newStory(t)
	end := event.NewTime(now)
	over := s.add(&event.Claim{SchemaType: "fact", Key: "a", Content: "x", ValidTo: &end})
	later := event.NewTime(now.Add(time.Millisecond))
	valid := s.add(&event.Claim{SchemaType: "fact", Key: "b", Content: "x", ValidTo: &later})
	s.want(over, api.Expired)
	s.want(valid, api.Live)
	if id, _, ok := s.set.Current(projection.ClaimGroup("a"), view); !ok || id != over {
		t.Errorf("current is %q", id)
	}
}

// Whatever rule says that an event is no longer kept is asked by what the set
// knows of it, and hides what would be live, nothing else.
func TestWhatIsNoLongerKeptHasExpired(t *testing.T) {
	s := newStory(t)
	public := func(e *event.Event) { e.Classification = event.Public }
	open := s.note("open", public)
	own := s.note("own", func(e *event.Event) { e.Classification = event.Private })
	lesson := s.add(&event.Lesson{Category: "go", Text: "x", Transition: event.LessonAdd}, public)
	gone := s.note("gone", public)
	s.archive(gone)
	over := view
	over.Over = func(id event.ID, k event.Kind, c event.Classification) bool {
		return id != "" && k == event.KindObserve && c == event.Public
	}
	for id, want := range map[event.ID]api.State{open: api.Expired, own: api.Live, lesson: api.Live, gone: api.Archived} {
		if st, ok := s.set.Standing(id, over); !ok || st.State != want {
			t.Errorf("%s is %s, want %s", id, st.State, want)
		}
		if st, _ := s.set.Standing(id, view); st.State == api.Expired {
			t.Errorf("%s has expired though everything is kept", id)
		}
	}
}

func TestLessonsChangeByTheirParent(t *testing.T) {
	s := newStory(t)
	lesson := func(tr event.Transition, parent event.ID) event.ID {
		return s.add(&event.Lesson{Category: "go", Text: "errors are values", Transition: tr},
			func(e *event.Event) { e.Parent = parent })
	}
	first := lesson(event.LessonAdd, "")
	second := lesson(event.LessonModify, first)
	s.want(first, api.Superseded)
	s.want(second, api.Live)
	end := lesson(event.LessonRetire, second)
	s.want(second, api.Archived)
	s.want(end, api.Archived)
	s.restore(second)
	s.want(second, api.Live)
}

func TestAnEventOfANewerProgramIsThereAndNotUnderstood(t *testing.T) {
	s := newStory(t)
	id := event.NewID(now)
	s.set.Add(projection.FactOfNewer(id))
	s.want(id, api.Live)
	if kind, ok := s.set.Kind(id); kind != "" || !ok {
		t.Errorf("kind %q, known %v", kind, ok)
	}
	s.redact(id)
	s.want(id, api.Redacted)
}

func TestNothingActsOnItself(t *testing.T) {
	s := newStory(t)
	e := s.make(&event.Observe{Summary: "x"})
	e.Payload = &event.Observe{Summary: "x", Supersedes: e.ID}
	s.set.Add(projection.FactOf(e))
	s.want(e.ID, api.Live)
}
