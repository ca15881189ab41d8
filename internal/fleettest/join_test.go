package fleettest_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/hub"
	"cairn/internal/fleettest"
)

// lines are what somebody logs.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A machine that joins is sent the hub's packs as they are, though it has made the first commit of the space by itself.
func TestAMachineThatJoinsGetsThePacksAsTheyAre(t *testing.T) {
	said := &lines{}
	log := slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f := fleettest.Start(t, hub.Options{Log: log})
	a := f.Joined("a", "ana")
	var notes []string
	for i := range 5 {
		notes = append(notes, fmt.Sprint("note ", i))
		a.Note("team", notes[i])
	}
	f.Until("the hub has the notes", func() bool {
		theirs, err := fleettest.HeadOf(filepath.Join(f.HubDir(), "spaces", "team.git"), "team")
		ours, ourErr := fleettest.HeadOf(a.Home.Space("team"), "team")
		return err == nil && ourErr == nil && theirs == ours
	})
	const whole = `msg="the packs are sent as they are" space=team`
	before := strings.Count(said.String(), whole)
	b := f.Joined("b", "ana")
	b.Has("team", notes...)
	if now := strings.Count(said.String(), whole); now != before+1 {
		t.Errorf("the packs were sent as they are %d times to a machine that joined", now-before)
	}
}
