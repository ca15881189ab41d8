package fleettest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/sshdoor"
	"cairn/internal/fleettest"
)

const window = 2 << 20 // that a session takes of the room

// A machine that finds no room at the hub says so, keeps its connection and its notes, and sends them when there is room.
func TestAMachineThatFindsNoRoomSyncsLater(t *testing.T) {
	f := fleettest.Start(t, hub.Options{Door: sshdoor.Limits{Room: 4 * window, Line: 2 * time.Second}})
	m := f.Joined("laptop", "ana")
	e, err := newFoe(f, 1, "foe", t.TempDir())
	if err != nil {
		t.Skipf("SKIPPED: only on linux a foe has an address of its own: %v", err)
	}
	var hogs []*talk
	for range 4 {
		hog, _, err := e.greeted(t.Context(), "git-receive-pack 'team'")
		if err != nil {
			t.Fatal(err)
		}
		hogs = append(hogs, hog)
	}
	if _, err := m.Remember(t.Context(), fleettest.Note("team", "there is no room for this")); err != nil {
		t.Fatal(err)
	}
	sync := func() string {
		t.Helper()
		results, err := m.Sync(context.Background(), api.SyncRequest{Space: "team"})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		for _, r := range results {
			if r.Problem != nil {
				said.WriteString(r.Problem.Message)
			}
		}
		return said.String()
	}
	if said := sync(); !strings.Contains(said, "as much as the hub keeps") {
		t.Errorf("without room: %q", said)
	}
	for _, hog := range hogs {
		if err := hog.Close(); err != nil {
			t.Error(err)
		}
	}
	f.Until("there is room again", func() bool { return sync() == "" })
}
