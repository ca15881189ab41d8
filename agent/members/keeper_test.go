package members_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cairn/agent/hubstate"
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
	hub   = hubstate.Hub{ID: hubID, Fingerprint: hubwire.Fingerprint(key.Public())}
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
		Hub:    hub,
		Roster: func(context.Context) (hubwire.RosterAnswer, error) { return a, nil },
	}
	if err := k.Follow(t.Context(), h, number); err != nil {
		t.Fatal(err)
	}
}

func TestAListOnlyGoesForwardAndStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "members.json")
	k := members.Open(disk.OS, path)
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
	again := members.Open(disk.OS, path)
	if err := again.Trouble(); err != nil || !again.Knows(ana) || again.Knows(bob) {
		t.Errorf("after a restart: %v", err)
	}
	follow(t, again, listed(6, key, "ana", "bob"), 6)
	if !again.Knows(bob) {
		t.Error("a newer list is not taken")
	}
}

// A list that is not taken is told of and not asked for again and again.
func TestAListThatIsNotTakenIsToldOnce(t *testing.T) {
	k := members.Open(disk.OS, filepath.Join(t.TempDir(), "members.json"))
	asked := 0
	bad := listed(9, device.FromPrivate(eventtest.Key("mallory")), "bob")
	h := members.Hub{
		Hub:    hub,
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

func TestADamagedListIsNoneUntilTheNextSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "members.json")
	follow(t, members.Open(disk.OS, path), listed(5, key, "ana"), 5)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		damaged := slices.Clone(whole)
		damaged[rapid.IntRange(0, len(whole)-1).Draw(rt, "at")] ^= rapid.ByteRange(1, 255).Draw(rt, "by")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			rt.Fatal(err)
		}
		k := members.Open(disk.OS, path)
		_, told := errors.AsType[*hubstate.DamagedError](k.Trouble())
		if !k.Knows(eventtest.Device("ana")) || k.Knows(eventtest.Device("bob")) != told {
			rt.Fatalf("%s\nis trouble: %v", damaged, k.Trouble())
		}
		follow(t, k, listed(5, key, "ana"), 5)
		if k.Knows(eventtest.Device("bob")) || k.Trouble() != nil {
			rt.Fatalf("%s\nstays after a sync: %v", damaged, k.Trouble())
		}
	})
}

func TestAHubThatCannotBeAskedIsAnError(t *testing.T) {
	k := members.Open(disk.OS, filepath.Join(t.TempDir(), "members.json"))
	gone := errors.New("gone")
	failing := members.Hub{Hub: hub, Roster: func(context.Context) (hubwire.RosterAnswer, error) { return hubwire.RosterAnswer{}, gone }}
	if err := k.Follow(t.Context(), failing, 6); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
