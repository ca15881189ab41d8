package agent

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/internal/paths"
	"cairn/sync/eventlog"
	"cairn/sync/replica"
)

// An event that the hub refused leaves the log once it is parked. From then on
// it must outlive a power cut, with the folder it lies in.
func TestAParkedEventSurvivesAPowerCut(t *testing.T) {
	home := paths.Home(filepath.Join(t.TempDir(), "home"))
	if _, err := MakeHome(t.Context(), home, "laptop"); err != nil {
		t.Fatal(err)
	}
	fsys, err := faultfs.New(string(home))
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(Options{Home: home, Log: slog.New(slog.DiscardHandler), FS: fsys}, nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := replica.Parked{Stored: eventlog.Stored{ID: event.NewID(time.Now()), Bytes: []byte("an event\n")}, Rule: "secret"}
	if err := (carried{a}).Park(t.Context(), "personal", []replica.Parked{refused}); err != nil {
		t.Fatal(err)
	}
	after := filepath.Join(t.TempDir(), "after")
	if err := fsys.Crash(after, faultfs.Survival{Contents: faultfs.Lost}); err != nil {
		t.Fatal(err)
	}
	if err := a.closeParts(); err != nil {
		t.Error(err)
	}
	path := filepath.Join(paths.Home(after).Parked("personal"), string(refused.ID)+".json")
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, refused.Bytes) {
		t.Errorf("found %q, %v", b, err)
	}
}
