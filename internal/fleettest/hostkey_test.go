package fleettest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/agent/api"
	"cairn/hub"
	devicekey "cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/fleettest"
	"cairn/internal/problem"
)

// Whoever answers at the hub's address with another host key is told nothing: neither a machine that is enrolled sends
// what it has, nor does a new one join. With the right key everything goes on.
func TestAHubWithAnotherHostKeyIsToldNothing(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a := f.Joined("a", "ana")
	a.Note("team", "before")
	f.Until("the note is at the hub", func() bool { return space(t, a, "team").Ahead == 0 })
	invite := f.Invite("bo")
	repository := filepath.Join(f.HubDir(), "spaces", "team.git")
	before, err := fleettest.HeadOf(repository, "team")
	if err != nil {
		t.Fatal(err)
	}

	f.StopHub()
	key := filepath.Join(f.HubDir(), "host_key")
	if err := os.Rename(key, key+".kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := devicekey.Create(disk.OS, key); err != nil {
		t.Fatal(err)
	}
	f.StartHub()

	a.Note("team", "meant for the hub alone")
	results, err := a.Sync(t.Context(), api.SyncRequest{Space: "team"})
	if err != nil || len(results) != 1 || results[0].Problem == nil || results[0].Problem.Code != problem.HubRefused {
		t.Errorf("an explicit sync: %+v, %v", results, err)
	}
	f.Until("status says why", func() bool {
		s := space(t, a, "team")
		return s.Ahead == 1 && strings.Contains(s.LastError, "host key")
	})
	b := f.Machine("b")
	if _, err := b.Agent.Join(t.Context(), invite); problem.Of(err).Code != problem.HubRefused {
		t.Errorf("a new machine joins: %v", err)
	}
	if after, err := fleettest.HeadOf(repository, "team"); err != nil || after != before {
		t.Errorf("the head moved from %s to %s, %v", before, after, err)
	}

	f.StopHub()
	if err := os.Rename(key+".kept", key); err != nil {
		t.Fatal(err)
	}
	f.StartHub()
	b.Join(invite) // it was not used up
	for _, m := range []*fleettest.Machine{a, b} {
		m.Has("team", "before", "meant for the hub alone")
	}
}
