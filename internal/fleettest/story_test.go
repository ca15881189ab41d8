package fleettest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/admin"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/problem"
)

func code(err error) problem.Code {
	if err == nil {
		return ""
	}
	return problem.Of(err).Code
}

func TestEveryPersonHasAPersonalSpaceOfTheirOwn(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	ana, anas, bo := f.Joined("ana-laptop", "ana"), f.Joined("ana-desktop", "ana"), f.Joined("bo-laptop", "bo")
	ana.Note("personal", "ana's own")
	bo.Note("personal", "bo's own")
	bo.Note("team", "for all")
	anas.Has("personal", "ana's own")
	ana.Has("team", "for all")
	anas.Has("team", "for all")
	bo.Has("personal", "bo's own")
	bo.Has("team", "for all")
}

func TestLocalNeverLeavesTheMachine(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	a.Note("local", "only here")
	a.Note("team", "a witness")
	b.Has("team", "a witness")
	b.Has("local")
	if err := a.AddRemote(t.Context(), api.Remote{Space: "local", Name: "origin", URL: t.TempDir()}); code(err) != problem.Policy {
		t.Errorf("a remote for local: %v", err)
	}
	d := fleettest.Draft("team", &event.Observe{Content: "not for others"})
	d.Classification = event.Private
	if _, err := a.Remember(t.Context(), d); code(err) != problem.Policy {
		t.Errorf("a private note in the team's space: %v", err)
	}
}

// While the hub is down everything works, status says what waits and why, and
// when it is back what waited arrives by itself.
func TestTheHubGoesAndComesBack(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	a.Note("team", "before")
	b.Has("team", "before")

	f.StopHub()
	a.Note("team", "while it was down")
	b.Note("team", "on the other side too")
	f.Until("status says what waits and why", func() bool {
		s := space(t, a, "team")
		return s.Ahead == 1 && s.LastError != ""
	})
	results, err := a.Sync(t.Context(), api.SyncRequest{Space: "team"})
	if err != nil || len(results) != 1 || results[0].Problem == nil || results[0].Problem.Code != problem.Offline {
		t.Errorf("an explicit sync: %+v, %v", results, err)
	}

	f.StartHub()
	want := []string{"before", "on the other side too", "while it was down"}
	a.Has("team", want...)
	b.Has("team", want...)
	f.Until("nothing waits", func() bool { s := space(t, a, "team"); return s.Ahead == 0 && s.LastError == "" })
	heads(t, f, "team", a, b)
}

func space(t *testing.T, m *fleettest.Machine, name string) api.SpaceStatus {
	t.Helper()
	s, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(s.Spaces, func(s api.SpaceStatus) bool { return s.Name == name })
	if at < 0 {
		t.Fatalf("no space %s in %+v", name, s)
	}
	return s.Spaces[at]
}

// heads waits until all machines end with the same commit.
func heads(t *testing.T, f *fleettest.Fleet, name string, machines ...*fleettest.Machine) {
	t.Helper()
	f.Until("all have one head", func() bool {
		first := space(t, machines[0], name).Head
		return !slices.ContainsFunc(machines[1:], func(m *fleettest.Machine) bool { return space(t, m, name).Head != first })
	})
}

// Two machines change one preference without knowing of each other; in
// whichever order they sync, both end with the same one, and the other stays
// in the history.
func TestOnePreferenceChangedOnTwoMachines(t *testing.T) {
	for _, order := range []string{"ab", "ba"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			f := fleettest.Start(t, hub.Options{})
			a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
			f.StopHub()
			a.Save("personal", &event.Pref{Category: "editor", Key: "indent", Value: "tabs"})
			b.Save("personal", &event.Pref{Category: "editor", Key: "indent", Value: "spaces"})
			first, second := a, b
			if order == "ba" {
				first, second = b, a
			}
			second.Stop()
			f.StartHub()
			f.Until("the first has pushed", func() bool { return space(t, first, "personal").Ahead == 0 })
			second.Start()
			heads(t, f, "personal", a, b)
			a.Has("personal", "spaces")
			b.Has("personal", "spaces")
			for _, m := range []*fleettest.Machine{a, b} {
				all, err := m.Log(t.Context(), api.Query{Limit: 9, All: true, Filter: api.Filter{Kind: event.KindPref}})
				if err != nil || len(all.Hits) != 2 || all.Hits[1].State != api.Superseded || all.Hits[1].SupersededBy != all.Hits[0].ID {
					t.Errorf("history: %+v, %v", all.Hits, err)
				}
			}
		})
	}
}

var caller = admin.Caller{}

var errNotHere = errors.New("not here")

// One note of fifty that the hub refuses does not keep the others; it is kept,
// listed, and its key is free again.
func TestOneRefusedNoteDoesNotBlockTheOthers(t *testing.T) {
	const bad = "note number 17"
	strict := hub.Options{Decide: func(e event.Event) error {
		if e.Payload.Body() == bad {
			return errNotHere
		}
		return nil
	}}
	f := fleettest.Start(t, strict)
	a, b := f.Joined("a", "ana"), f.Joined("b", "ana")
	f.StopHub()
	var want []string
	var refused event.ID
	for i := range 50 {
		text := fmt.Sprintf("note number %d", i)
		id := a.Note("team", text)
		if text == bad {
			refused = id
			continue
		}
		want = append(want, text)
	}
	f.StartHub()
	b.Has("team", want...)
	a.Has("team", want...)
	heads(t, f, "team", a, b)
	list, err := a.Refused(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != refused || list[0].By != "hub" {
		t.Fatalf("refused: %+v, %v", list, err)
	}
	// Saved again, it is a new note; the hub refuses it again.
	if again := a.Note("team", bad); again == refused {
		t.Error("the refused note is still there")
	}
	f.Until("it is refused again", func() bool {
		list, err := a.Refused(t.Context())
		return err == nil && len(list) == 2
	})
	a.Has("team", want...)
}

func TestRedactedHereIsGoneThere(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bo")
	id := a.Note("team", "something embarrassing about Zanzibar")
	b.Finds("zanzibar", "something embarrassing about Zanzibar")
	a.Save("team", &event.Redact{Target: id, Reason: "embarrassing"})
	f.Until("b no longer finds it", func() bool {
		answer, err := b.Ask(t.Context(), api.Query{Text: "zanzibar", Limit: 5})
		return err == nil && len(answer.Hits) == 0
	})
	shown, err := b.Show(t.Context(), string(id), false)
	if err != nil || shown.State != api.Redacted || shown.Hit.Text != "" {
		t.Errorf("shown: %+v, %v", shown.Hit, err)
	}
}

func TestARevokedDeviceIsCutOff(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bo")
	a.Note("team", "hello")
	b.Has("team", "hello")
	status, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Hub().Admin().Revoke(t.Context(), caller, status.Device); err != nil {
		t.Fatal(err)
	}
	b.Note("team", "from outside")
	results, err := b.Sync(t.Context(), api.SyncRequest{Space: "team"})
	if err != nil || results[0].Problem == nil || results[0].Problem.Code != problem.HubRefused {
		t.Errorf("sync of a revoked device: %+v, %v", results, err)
	}
	a.Has("team", "hello")
	b.Has("team", "hello", "from outside") // what it has stays its own
}

func TestASpaceGrantedLaterArrivesByItself(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Joined("a", "ana"), f.Joined("b", "bo")
	hubAdmin := f.Hub().Admin()
	if _, err := hubAdmin.CreateSpace(t.Context(), caller, "ops"); err != nil {
		t.Fatal(err)
	}
	for _, person := range []string{"ana", "bo"} {
		if _, err := hubAdmin.Grant(t.Context(), caller, person, "ops", "write"); err != nil {
			t.Fatal(err)
		}
	}
	// A machine asks what is offered whenever its watch begins.
	f.StopHub()
	f.StartHub()
	for _, m := range []*fleettest.Machine{a, b} {
		f.Until("the space is there", func() bool { return slices.Contains(m.Spaces(), "ops") })
	}
	a.Note("ops", "the pager is yours")
	b.Has("ops", "the pager is yours")
}
