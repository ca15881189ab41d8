package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/faultfs"
	"cairn/sync/gitstore"
)

// reachable are the ids of what the first commit brings.
func reachable(text string) []plumbing.Hash {
	var ids []plumbing.Hash
	for _, o := range commitOf(text) {
		ids = append(ids, o.Hash)
	}
	return ids
}

// retain removes everything but the commit "first".
func retain(t testing.TB, s *gitstore.Store) error {
	pack, err := s.GatherPack(t.Context(), reachable("first"))
	if err != nil {
		return err
	}
	l, err := s.Lock(t.Context())
	if err != nil {
		return err
	}
	left, err := s.RemoveAllBut(pack)
	if left > 0 {
		t.Errorf("%d files are left", left)
	}
	return errors.Join(err, l.Unlock())
}

func TestOnlyWhatWasGatheredStays(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	other := commitOf("to go")
	if _, err := s.WritePack(other); err != nil {
		t.Fatal(err)
	}
	if err := retain(t, s); err != nil {
		t.Fatal(err)
	}
	ids, err := s.IDs()
	if err != nil || len(ids) != len(reachable("first")) {
		t.Errorf("there are %d objects, %v", len(ids), err)
	}
	if _, err := s.Object(other[0].Hash); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("what was to go is there: %v", err)
	}
	mustBeWhole(t, "afterwards", s.Dir(), first, first)
}

// A pack that somebody joined with others in between is not taken for the one
// that stays.
func TestNothingIsRemovedIfWhatShouldStayIsGone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	_, err := s.RemoveAllBut("pack-0123456789012345678901234567890123456789")
	if !errors.Is(err, gitstore.ErrPackGone) {
		t.Errorf("got %v", err)
	}
	mustBeWhole(t, "afterwards", s.Dir(), first, first)
}

// Joining small packs that were removed meanwhile would bring back what they
// held.
func TestPacksThatWereRemovedMeanwhileAreNotJoined(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	for i := range 4 {
		if _, err := s.WritePack(commitOf(fmt.Sprint("to go ", i))); err != nil {
			t.Fatal(err)
		}
	}
	l, err := s.Lock(t.Context())
	if err == nil { // what was just written is no longer kept from being joined
		err = l.Unlock()
	}
	if err == nil {
		l, err = s.Lock(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	joiner, joined := openStore(t, s.Dir()), make(chan error, 1)
	go func() {
		// It has read the packs when it waits for the lock.
		_, err := joiner.CompactAt(t.Context(), 2)
		joined <- err
	}()
	waitForDraft(t, s.Dir())
	pack, err := s.GatherPack(t.Context(), reachable("first"))
	if err == nil {
		_, err = s.RemoveAllBut(pack)
	}
	if err := errors.Join(err, l.Unlock(), <-joined); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.IDs(); err != nil || len(ids) != len(reachable("first")) {
		t.Errorf("there are %d objects, %v", len(ids), err)
	}
	mustBeWhole(t, "afterwards", s.Dir(), first, first)
}

// waitForDraft waits until a joined pack is complete but for its name.
func waitForDraft(t testing.TB, dir string) {
	t.Helper()
	for range 2000 {
		drafts, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "new-*.idx-draft"))
		if err != nil {
			t.Fatal(err)
		}
		if len(drafts) > 0 {
			if info, err := os.Stat(drafts[0]); err == nil && info.Size() > 0 {
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("no packs are being joined")
}

// At whatever operation the disk fails or the power goes, what should stay is
// there, and the next attempt removes the rest.
func TestRetainingOnAFailingDisk(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n += 1 + n/8 {
		f := newFullFaulty(t)
		f.fs.FailAt(n)
		err := retain(t, f.store)
		f.fs.FailAt(0)
		done = err == nil
		if err != nil && !errors.Is(err, faultfs.ErrInjected) {
			t.Errorf("operation %d: %v", n, err)
		}
		what := fmt.Sprint("failure of operation ", n)
		mustBeWhole(t, what, f.store.Dir(), f.first, f.first)
		if n > 2000 {
			t.Fatal("it takes more than 2000 operations")
		}
	}
}
