package fleettest_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/fleettest"
	"cairn/policy/secrets/secretstest"
	"cairn/sync/eventlog"
)

// A plain remote has no gate: each machine judges for itself what comes from
// there, and what it holds against an event keeps that event out of sight alone.
func TestAMachineJudgesWhatAPlainRemoteBrings(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Machine("a"), f.Machine("b")
	dir := filepath.Join(t.TempDir(), "remote.git")
	link(t, a, dir)
	a.Note("team", "all is well")
	exchange(t, a)
	link(t, b, dir)
	b.Has("team", "all is well")
	secret := secretstest.Generate(secretstest.Rules()[0], rand.New(rand.NewPCG(5, 6)))
	bad := map[event.ID]string{}
	for rule, spoil := range map[string]func(*event.Event){
		secretstest.Rules()[0]: func(e *event.Event) { e.Payload = &event.Observe{Summary: "x", Content: "zebra " + secret} },
		"classification":       func(e *event.Event) { e.Classification = event.Secret },
	} {
		e := eventtest.Note("zebra")
		e.Space, e.Classification = "team", event.Public
		spoil(&e)
		bad[e.ID] = rule
		smuggle(t, dir, eventtest.Signed(e, "stranger"))
	}
	exchange(t, b)
	if got := b.Texts("team"); !slices.Equal(got, []string{"all is well"}) {
		t.Errorf("b shows %q", got)
	}
	if answer, err := b.Ask(t.Context(), api.Query{Text: "zebra", All: true}); err != nil || len(answer.Hits) > 0 {
		t.Errorf("b finds %+v, %v", answer.Hits, err)
	}
	list, err := b.Refused(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if bad[r.ID] != r.Rule {
			t.Errorf("refused by the rule %q: %+v", r.Rule, r)
		}
		delete(bad, r.ID)
	}
	if len(bad) > 0 {
		t.Errorf("not refused: %v", bad)
	}
}

// link syncs the space team of a machine with a plain remote.
func link(t *testing.T, m *fleettest.Machine, dir string) {
	t.Helper()
	err := m.CreateSpace(t.Context(), "team")
	if err == nil {
		err = m.AddRemote(t.Context(), api.Remote{Space: "team", Name: "mirror", URL: dir})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func exchange(t *testing.T, m *fleettest.Machine) {
	t.Helper()
	results, err := m.Sync(t.Context(), api.SyncRequest{Space: "team"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Problem != nil {
			t.Fatal(r.Problem)
		}
	}
}

// smuggle adds an event to the remote, as anybody may who can write to it.
func smuggle(t *testing.T, dir string, e event.Event) {
	t.Helper()
	l, err := eventlog.Open(disk.OS, dir, e.Space)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Append(t.Context(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
}
