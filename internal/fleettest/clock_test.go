package fleettest_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/fleettest"
)

// check is what doctor says under a name.
func check(t *testing.T, m *fleettest.Machine, name string) api.Check {
	t.Helper()
	r, err := m.Doctor(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Checks, func(c api.Check) bool { return c.Name == name })
	if at < 0 {
		t.Fatalf("doctor does not look at %s: %+v", name, r.Checks)
	}
	return r.Checks[at]
}

func raw(t *testing.T, m *fleettest.Machine, id event.ID) []byte {
	t.Helper()
	s, err := m.Show(t.Context(), string(id), true)
	if err != nil {
		t.Fatal(err)
	}
	return s.Raw
}

// Somebody's clock is an hour ahead. What they save then stays theirs alone
// until its time has come, by the hub's clock and by that of each reader;
// everything else travels at once, and nobody has to do anything for the rest.
func TestAClockAnHourAheadHoldsBackItsNotes(t *testing.T) {
	var hubs fleettest.Clock
	f := fleettest.Start(t, hub.Options{Now: hubs.Now})
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	a.Note("team", "before")
	a.Clock.Set(time.Hour)
	early := a.Note("team", "an hour ahead")
	if c := check(t, a, "clock"); c.OK || !strings.Contains(c.Detail, "ahead of the hub's") {
		t.Errorf("doctor says of the clock %+v", c)
	}
	a.Clock.Set(0)
	a.Note("team", "after")
	b.Has("team", "after", "before")
	a.Has("team", "after", "an hour ahead", "before")
	f.Until("status says what is held", func() bool {
		s := space(t, a, "team")
		return s.Ahead == 1 && s.Held == 1 && s.HeldUntil != nil && s.LastError == ""
	})
	if got, want := *space(t, a, "team").HeldUntil, early.Time().Add(-event.MaxAhead); got.Sub(want).Abs() > time.Millisecond {
		t.Errorf("held until %s, want %s", got, want)
	}
	if c := check(t, a, "clock"); !c.OK || !strings.Contains(c.Detail, early.Short()) {
		t.Errorf("doctor says of the clock %+v", c)
	}
	if list, err := a.Refused(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("refused: %+v, %v", list, err)
	}

	hubs.Set(time.Hour)
	f.StopHub() // whoever comes back reads the clock anew
	f.StartHub()
	f.Until("it arrives at the other's", func() bool { return space(t, b, "team").Held == 1 })
	heads(t, f, "team", a, b)
	b.Has("team", "after", "before")
	if answer, err := b.Ask(t.Context(), api.Query{Text: "hour", All: true}); err != nil || len(answer.Hits) > 0 {
		t.Errorf("b finds %+v, %v", answer.Hits, err)
	}
	if own := b.Note("team", "b goes on"); own.Time().After(time.Now().Add(event.MaxAhead)) {
		t.Errorf("the clock of a moved b's to %s", own.Time())
	}
	b.Clock.Set(time.Hour)
	b.Has("team", "after", "an hour ahead", "b goes on", "before")
	b.Finds("hour", "an hour ahead")
	if !bytes.Equal(raw(t, a, early), raw(t, b, early)) {
		t.Error("its bytes changed on the way")
	}
	if s := space(t, b, "team"); s.Held != 0 || s.HeldUntil != nil {
		t.Errorf("still held: %+v", s)
	}
}

// A note that comes a moment too early goes when its time has come, while
// nothing else happens.
func TestAHeldNoteGoesByItself(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	a.Clock.Set(event.MaxAhead + 1500*time.Millisecond)
	a.Note("team", "a moment early")
	a.Note("team", "and one more")
	b.Has("team", "a moment early", "and one more")
	f.Until("nothing is held", func() bool { s := space(t, a, "team"); return s.Held == 0 && s.Ahead == 0 })
	heads(t, f, "team", a, b)
}

// A preference of a fast clock does not stand in the way of those that people
// set meanwhile.
func TestAFastClockDecidesNothing(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Machine("a"), f.Machine("b")
	dir := filepath.Join(t.TempDir(), "remote.git")
	link(t, a, dir)
	a.Save("team", &event.Pref{Category: "editor", Key: "indent", Value: "tabs"})
	exchange(t, a)
	link(t, b, dir)
	b.Has("team", "tabs")
	e := eventtest.Of(&event.Pref{Category: "editor", Key: "indent", Value: "spaces"})
	e.Space, e.Classification, e.ID = "team", event.Public, event.NewID(time.Now().Add(time.Hour))
	smuggle(t, dir, eventtest.Signed(e, "stranger"))
	exchange(t, b)
	b.Has("team", "tabs")
	b.Save("team", &event.Pref{Category: "editor", Key: "indent", Value: "two tabs"})
	b.Has("team", "two tabs")
	if s := space(t, b, "team"); s.Held != 1 {
		t.Errorf("%d held", s.Held)
	}
	b.Clock.Set(time.Hour)
	b.Has("team", "spaces")
}

// The clock jumps back, also while the machine is off. What was saved stays and
// arrives, and no id is given twice.
func TestAClockSetBackLosesNothing(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	var ids []event.ID
	var want []string
	for i, ahead := range []time.Duration{0, 9 * time.Minute, -48 * time.Hour, -time.Hour, 0, -400 * 24 * time.Hour} {
		a.Stop()
		a.Clock.Set(ahead)
		a.Start()
		text := string(rune('a' + i))
		ids, want = append(ids, a.Note("team", text)), append(want, text)
	}
	a.Clock.Set(0)
	b.Has("team", want...)
	a.Has("team", want...)
	heads(t, f, "team", a, b)
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != len(want) {
		t.Errorf("%d notes have %d ids", len(want), got)
	}
	if c := check(t, a, "clock"); !c.OK {
		t.Errorf("doctor says of the clock %+v", c)
	}
}
