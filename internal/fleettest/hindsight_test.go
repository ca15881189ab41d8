package fleettest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/policy/desk"
)

// A team's rules change: a pattern is added, a kind is forbidden, and both are
// taken back. A machine that has everything from before, one that was off, one
// that was cut off and one that comes late answer alike each time.
func TestLaterRulesAreOneAnswerEverywhere(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	old, off, cut := f.Joined("old", "ana"), f.Joined("off", "bob"), f.Wired("cut", "cy")
	push(t, f, policyFile(1, ""))
	old.Note("team", "look at ACME-111111")
	old.Save("team", &event.Lesson{Category: "work", Text: "measure twice", Transition: event.LessonAdd})
	old.Note("team", "nothing special")
	all := []string{"look at ACME-111111", "measure twice", "nothing special"}
	for _, m := range []*fleettest.Machine{old, off, cut} {
		m.Has("team", slices.Clone(all)...)
		m.Finds("ACME", "look at ACME-111111")
	}
	off.Stop()
	cut.Line.Cut()

	push(t, f, policyFile(1, pattern("acme-ticket", "ACME")+"kinds: [observe]\n"))
	cut.Save("team", &event.Lesson{Category: "work", Text: "too late", Transition: event.LessonAdd})
	late := f.Joined("late", "dan")
	off.Start()
	cut.Line.Mend()
	machines := []*fleettest.Machine{old, off, cut, late}
	for _, m := range machines {
		m.Has("team", "measure twice", "nothing special")
		if answer, err := m.Ask(t.Context(), api.Query{Text: "ACME", All: true}); err != nil || len(answer.Hits) > 0 {
			t.Errorf("it is found: %+v, %v", answer.Hits, err)
		}
		m.Finds("measure", "measure twice")
		if list := refusals(t, m, "machine"); !slices.Equal(list, []string{"acme-ticket"}) {
			t.Errorf("withheld by %q", list)
		}
	}
	f.Until("what was written afterwards is refused", func() bool { return slices.Equal(refusals(t, cut, "hub"), []string{"kind"}) })

	c, err := f.Hub().Admin().PolicyDesk().Rollback(t.Context(), 2, false)
	if err != nil || c.State != desk.Active || c.Number != 4 {
		t.Fatalf("going back: %+v, %v", c, err)
	}
	later := f.Joined("later", "eve")
	for _, m := range append(machines, later) {
		m.Has("team", slices.Clone(all)...)
		m.Finds("ACME", "look at ACME-111111")
		if list := refusals(t, m, "machine"); len(list) > 0 {
			t.Errorf("withheld by %q", list)
		}
	}
}

// refusals lists by which rules events are on the list of refused ones.
func refusals(t *testing.T, m *fleettest.Machine, by string) (rules []string) {
	t.Helper()
	list, err := m.Refused(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.By == by {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// Two must sign a version, and who signs first dates it back. What was written
// while it waited was taken and stays.
func TestAVersionCountsFromWhenItCameIntoForce(t *testing.T) {
	clock := new(fleettest.Clock)
	clock.Set(-30 * time.Minute)
	f := fleettest.Start(t, hub.Options{Now: clock.Now})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bob")
	set := func(ahead time.Duration) {
		for _, c := range []*fleettest.Clock{clock, a.Clock, b.Clock} {
			c.Set(ahead)
		}
	}
	set(-30 * time.Minute)
	push(t, f, policyFile(2, ""))
	number(t, f, a, 2)
	d := deskOf(t, a)
	d.Now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	if c, err := d.Push(t.Context(), policyFile(2, "kinds: [observe]\n"), false); err != nil || c.State != desk.Waiting {
		t.Fatalf("%+v, %v", c, err)
	}
	set(-10 * time.Minute)
	a.Save("team", &event.Lesson{Category: "work", Text: "while it waited", Transition: event.LessonAdd})
	b.Has("team", "while it waited")
	if c, err := f.Hub().Admin().PolicyDesk().Approve(t.Context(), 3, ""); err != nil || c.State != desk.Active {
		t.Fatalf("%+v, %v", c, err)
	}
	number(t, f, a, 3)
	number(t, f, b, 3)
	set(0)
	late := f.Joined("late", "dan")
	for _, m := range []*fleettest.Machine{a, b, late} {
		m.Has("team", "while it waited")
	}
	refused := fleettest.Draft("team", &event.Lesson{Category: "work", Text: "afterwards", Transition: event.LessonAdd})
	if _, err := a.Remember(t.Context(), refused); err == nil || !strings.Contains(err.Error(), "lesson") {
		t.Errorf("it is saved: %v", err)
	}
}
