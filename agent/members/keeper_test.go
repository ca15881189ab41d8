package members_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cairn/agent/members"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/policy/roster"
)

var (
	hubID = event.ID("01kk0000000000000000000000")
	key   = device.FromPrivate(eventtest.Key("hub"))
)

func listed(number int64, by device.Key, people ...string) hubwire.RosterAnswer {
	var devices []roster.Device
	for _, p := range people {
		devices = append(devices, roster.Device{ID: eventtest.Device(p), Person: p})
	}
	slices.SortFunc(devices, func(a, b roster.Device) int { return cmp.Compare(a.ID, b.ID) })
	return hubwire.RosterAnswer{Key: by.Public(), Roster: roster.Encode(roster.New(hubID, number, devices, by))}
}

func follow(t *testing.T, k *members.Keeper, a hubwire.RosterAnswer, number int64) {
	t.Helper()
	h := members.Hub{
		ID: hubID, Fingerprint: hubwire.Fingerprint(key.Public()),
		Roster: func(context.Context) (hubwire.RosterAnswer, error) { return a, nil },
	}
	if err := k.Follow(t.Context(), h, number); err != nil {
		t.Fatal(err)
	}
}

func TestAListOnlyGoesForwardAndStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "members.json")
	k, err := members.Open(disk.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	ana, bob := eventtest.Device("ana"), eventtest.Device("bob")
	if !k.Knows(ana) {
		t.Error("without a list a device is a stranger")
	}
	follow(t, k, listed(5, key, "ana"), 5)
	if !k.Knows(ana) || k.Knows(bob) {
		t.Error("the list is not what the hub signed")
	}
	follow(t, k, listed(4, key, "bob"), 4)
	follow(t, k, listed(4, key, "bob"), 9) // an old list under a new number
	mallory := device.FromPrivate(eventtest.Key("mallory"))
	follow(t, k, listed(9, mallory, "bob"), 9)
	follow(t, k, hubwire.RosterAnswer{Key: key.Public(), Roster: listed(9, mallory, "bob").Roster}, 9)
	if !k.Knows(ana) || k.Knows(bob) {
		t.Error("a list is taken that the hub did not sign, or an old one")
	}
	again, err := members.Open(disk.OS, path)
	if err != nil || !again.Knows(ana) || again.Knows(bob) {
		t.Errorf("after a restart: %v", err)
	}
	follow(t, again, listed(6, key, "ana", "bob"), 6)
	if !again.Knows(bob) {
		t.Error("a newer list is not taken")
	}
}

// A list that is not taken is told of and not asked for again and again.
func TestAListThatIsNotTakenIsToldOnce(t *testing.T) {
	k, err := members.Open(disk.OS, filepath.Join(t.TempDir(), "members.json"))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	bad := listed(9, device.FromPrivate(eventtest.Key("mallory")), "bob")
	h := members.Hub{
		ID: hubID, Fingerprint: hubwire.Fingerprint(key.Public()),
		Roster: func(context.Context) (hubwire.RosterAnswer, error) { asked++; return bad, nil },
	}
	for range 3 {
		if err := k.Follow(t.Context(), h, 9); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 || k.Trouble() == nil {
		t.Errorf("asked %d times, trouble %v", asked, k.Trouble())
	}
	follow(t, k, listed(10, key, "ana"), 10)
	if err := k.Trouble(); err != nil || !k.Knows(eventtest.Device("ana")) {
		t.Errorf("after a good one: %v", err)
	}
}

func TestADamagedListIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "members.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := members.Open(disk.OS, path)
	if err == nil || !k.Knows(eventtest.Device("ana")) {
		t.Errorf("%v", err)
	}
	follow(t, k, listed(5, key, "ana"), 5)
	if k.Knows(eventtest.Device("bob")) {
		t.Error("the list is not taken")
	}
	failing := members.Hub{ID: hubID, Roster: func(context.Context) (hubwire.RosterAnswer, error) { return hubwire.RosterAnswer{}, errors.New("gone") }}
	if err := k.Follow(t.Context(), failing, 6); err == nil {
		t.Error("a hub that cannot be asked is no error")
	}
}
