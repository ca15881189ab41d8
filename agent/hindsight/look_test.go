package hindsight_test

import (
	"testing"
	"time"

	"cairn/agent/hindsight"
	"cairn/internal/event"
)

func joined(t *testing.T) *machine {
	m := newMachine(t, t.TempDir())
	t.Cleanup(m.close)
	return m
}

// Who has an event before a rule does, and who gets it after, differ until the
// first one looks back.
func TestOnlyALookMakesMachinesAgree(t *testing.T) {
	var c chain
	c.push(noon, "")
	c.push(noon.Add(time.Hour), "secrets:\n  patterns:\n"+pattern("ACME"))
	early, late := joined(t), joined(t)
	ticket, other := note(noon, "on ACME-123456"), note(noon.Add(time.Minute), "on nothing")
	early.hear(&c, 1)
	early.take(ticket)
	early.take(other)
	early.look()
	shows(t, early, ticket, other)
	late.hear(&c, 2)
	late.take(ticket)
	late.take(other)
	shows(t, late, other)
	early.hear(&c, 2)
	shows(t, early, ticket, other) // so it would stay
	early.look()
	shows(t, early, other)

	c.push(noon.Add(2*time.Hour), "") // and back
	for _, m := range []*machine{early, late} {
		m.hear(&c, 3)
		m.look()
		shows(t, m, ticket, other)
	}
}

// What a later version forbids stays if it could have been taken before, and
// goes if not; what it allows again comes back.
func TestAKindThatIsForbiddenLater(t *testing.T) {
	var c chain
	c.push(noon, "")
	c.push(noon.Add(time.Hour), kinds("observe"))
	m := joined(t)
	m.hear(&c, 1)
	before := lesson(noon.Add(59*time.Minute), "before")
	ahead := lesson(noon.Add(70*time.Minute), "by a clock ten minutes ahead")
	after := lesson(noon.Add(71*time.Minute), "after")
	for _, e := range []event.Event{before, ahead, after} {
		m.take(e)
	}
	m.hear(&c, 2)
	m.look()
	shows(t, m, before, ahead)
	c.push(noon.Add(2*time.Hour), "")
	m.hear(&c, 3)
	m.look()
	shows(t, m, before, ahead, after)
}

// An event was judged, the rules changed, and only then it was merged: whoever
// takes a history in keeps the look back waiting.
func TestWhatIsMergedMeanwhileIsNotMissed(t *testing.T) {
	var c chain
	c.push(noon, "")
	c.push(noon, "secrets:\n  patterns:\n"+pattern("ACME"))
	m := joined(t)
	m.hear(&c, 1)
	m.look()
	turn, err := m.log.Store().LockPending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ticket := note(noon, "on ACME-123456")
	m.admit(ticket)
	m.hear(&c, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.looks.Look(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(50 * time.Millisecond) // it may get as far as it can
	m.add(ticket)
	if err := turn.Unlock(); err != nil {
		t.Fatal(err)
	}
	<-done
	shows(t, m)
}

// A look is made once, and not at all where the new rules ask the same; one
// that broke off goes on where it was.
func TestNothingIsLookedAtTwice(t *testing.T) {
	var c chain
	c.push(noon, "secrets:\n  patterns:\n"+pattern("OTHER"))
	m := joined(t)
	m.hear(&c, 1)
	for i := range 9 {
		m.take(note(noon.Add(time.Duration(i)*time.Second), "on ACME-123456"))
	}
	looks := func(want int, what string) {
		t.Helper()
		m.looked = 0
		m.look()
		if m.looked != want {
			t.Errorf("%s: %d events are looked at, want %d", what, m.looked, want)
		}
	}
	looks(9, "the first time")
	looks(0, "again")
	m.restart()
	looks(0, "after a restart")
	c.push(noon.Add(time.Hour), "limits: {push: 1MiB}\nsecrets:\n  patterns:\n"+pattern("OTHER"))
	m.hear(&c, 2)
	looks(0, "a version that asks the same of events")
	c.push(noon.Add(2*time.Hour), "secrets:\n  patterns:\n"+pattern("ACME"))
	m.hear(&c, 3)
	m.die = m.settled + 3 // two steps of two are settled by then
	looks(6, "until it dies")
	m.die = 0
	looks(5, "the rest")
	shows(t, m)
	if p := m.looks.Progress(); p != (hindsight.Progress{}) {
		t.Errorf("it is still at work: %+v", p)
	}
}

// A trial ends, and an exception: by the clock alone.
func TestWhatEndsByTheClock(t *testing.T) {
	var c chain
	today := noon.Format(time.DateOnly)
	c.push(noon, "secrets:\n  patterns:\n"+pattern("ACME", "stage: report", "until: "+today))
	m := joined(t)
	m.hear(&c, 1)
	ticket := note(noon, "on ACME-123456")
	m.take(ticket)
	m.look()
	shows(t, m, ticket)
	m.clock = noon.Add(24 * time.Hour)
	m.look()
	shows(t, m)
}
