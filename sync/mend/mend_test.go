package mend_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/mend"
)

// lacking is the folder of a space whose repository has lost its packs.
func lacking(t *testing.T, fsys disk.FS) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "team.git")
	log, err := eventlog.Create(fsys, dir, commitform.Space{Name: "team", ID: event.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Append(t.Context(), func(eventlog.Head) ([]event.Event, error) {
		e := eventtest.Note("a note")
		e.Space, e.Classification = "team", event.Public
		return []event.Event{eventtest.Signed(e, "laptop")}, nil
	})
	if err := errors.Join(err, log.Settle(t.Context()), log.Close()); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "pack-*"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("there are no packs to lose: %v", err)
	}
	for _, p := range packs {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Others may take long to send what is missing. Meanwhile this machine can pull
// from elsewhere, and follow a purge.
func TestNobodyWaitsWhileOthersAreAsked(t *testing.T) {
	t.Parallel()
	fsys := disktest.Unsynced(disk.OS)
	dir := lacking(t, fsys)
	asked := false
	found, err := mend.Repository(t.Context(), mend.Options{
		FS: fsys, Dir: dir, Name: "team", Deep: true,
		Refill: func(ctx context.Context, store *gitstore.Store, _ []plumbing.Hash) error {
			asked = true
			soon, stop := context.WithTimeout(ctx, 10*time.Second)
			defer stop()
			turn, err := store.LockPending(soon)
			if err != nil {
				t.Errorf("the lock of those who purge is held: %v", err)
				return err
			}
			return turn.Unlock()
		},
	})
	if err != nil || len(found) == 0 || !asked {
		t.Errorf("others were asked: %v; found %v, %v", asked, found, err)
	}
}
