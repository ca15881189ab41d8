package fleettest_test

import (
	"path/filepath"
	"slices"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/config"
	devicekey "cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/sync/replica"
)

// A space of the hub has a mirror that somebody else can write to. A member's
// event is taken from there, a stranger's is not, however well it is signed.
func TestAMirrorBringsNoStrangersEvents(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	a.Note("team", "ours")
	f.Until("nothing waits", func() bool { return space(t, a, "team").Ahead == 0 })
	dir := filepath.Join(t.TempDir(), "mirror.git")
	if err := a.AddRemote(t.Context(), api.Remote{Space: "team", Name: "mirror", URL: dir}); err != nil {
		t.Fatal(err)
	}
	mirror := func() api.SyncResult {
		t.Helper()
		results, err := a.Sync(t.Context(), api.SyncRequest{Space: "team", Remote: "mirror"})
		if err != nil || len(results) != 1 {
			t.Fatalf("%+v, %v", results, err)
		}
		return results[0]
	}
	if r := mirror(); r.Problem != nil {
		t.Fatal(r.Problem)
	}
	bob := f.Joined("b", "bob") // of whom the machine hears from the hub
	e := bobsNote(t, bob, "bob's, by way of the mirror")
	smuggle(t, dir, e)
	f.Until("a member's event is taken", func() bool {
		return mirror().Problem == nil && slices.Contains(a.Texts("team"), "bob's, by way of the mirror")
	})
	stranger := eventtest.Note("a stranger's")
	stranger.Space, stranger.Classification = "team", event.Public
	smuggle(t, dir, eventtest.Signed(stranger, "stranger"))
	if r := mirror(); r.Problem == nil || r.Problem.Rule != replica.RuleStranger || r.Problem.Hint == "" {
		t.Errorf("the mirror is synced: %+v", r)
	}
	if texts := a.Texts("team"); slices.Contains(texts, "a stranger's") {
		t.Errorf("the machine shows %q", texts)
	}
	a.Note("team", "the hub goes on")
	bob.Has("team", "ours", "bob's, by way of the mirror", "the hub goes on")
	if list, err := a.Refused(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("refused: %+v, %v", list, err)
	}
	a.Stop()
	a.Start()
	if r := mirror(); r.Problem == nil || r.Problem.Rule != replica.RuleStranger {
		t.Errorf("after a restart the mirror is synced: %+v", r)
	}
}

// bobsNote is an event that bob's machine signed and nobody has pushed.
func bobsNote(t *testing.T, bob *fleettest.Machine, text string) event.Event {
	t.Helper()
	id := bob.Note("local", text)
	e, err := event.Decode(raw(t, bob, id))
	if err != nil {
		t.Fatal(err)
	}
	e.Space, e.Classification, e.Sig = "team", event.Public, nil
	signed, err := keyOf(t, bob).Sign(e)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// The list of devices only goes forward, and only by the hub's signature.
func TestTheListOfMembersGoesForward(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	h := hubOf(t, a)
	old, err := h.Roster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Roster(t.Context())
	if err != nil || string(again.Roster) != string(old.Roster) {
		t.Errorf("without a change there is another list: %v", err)
	}
	f.StopHub()
	f.StartHub()
	f.Joined("b", "bob")
	next, err := h.Roster(t.Context())
	if err != nil || string(next.Roster) == string(old.Roster) {
		t.Errorf("after a change there is the same list: %v", err)
	}
	if hubwire.Fingerprint(next.Key) != f.Hub().Fingerprint() {
		t.Error("it is signed by another key than the hub's")
	}
}

func keyOf(t *testing.T, m *fleettest.Machine) devicekey.Key {
	t.Helper()
	key, err := devicekey.Load(disk.OS, m.Home.DeviceKey())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func hubOf(t *testing.T, m *fleettest.Machine) *replica.Hub {
	t.Helper()
	c, err := config.Load(disk.OS, m.Home.Config())
	if err != nil {
		t.Fatal(err)
	}
	h, err := replica.NewHub(replica.Address{Host: c.Hub.Address, Fingerprint: c.Hub.Fingerprint}, keyOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}
