package purge_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/purge"
)

// A set finds what was purged in a history that has it and in a repository that
// stores it, and in no other.
func TestASetFindsWhatWasPurged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, one := w.grow(t, w.root, "one")
	second, two := w.grow(t, first, "two")
	blobs := w.events(t, second)
	both := slices.Sorted(maps.Keys(blobs))
	absent := event.NewID(time.Now())
	set := purge.NewSet([]purge.Record{{Purge: commitform.Purge{Events: []commitform.Purged{
		{ID: two, Blob: commitform.Hash(blobs[two])}, {ID: one, Blob: commitform.Hash(blobs[one])},
		{ID: absent, Blob: commitform.Hash{9}},
	}}}})
	for commit, want := range map[plumbing.Hash][]event.ID{w.root: nil, first: {one}, second: both} {
		held, err := set.InCommit(w, commit)
		slices.Sort(held)
		if err != nil || !slices.Equal(held, want) {
			t.Errorf("in %s: %v, not %v, %v", commit, held, want, err)
		}
	}
	if stored, err := set.Stored(w.Has); err != nil || !slices.Equal(stored, both) {
		t.Errorf("stored: %v, %v", stored, err)
	}
	if _, err := set.InCommit(w, blobs[one]); err == nil {
		t.Error("a file was taken for a commit")
	}
	broken := errors.New("the disk is broken")
	if _, err := set.Stored(func(plumbing.Hash) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("what cannot be read counts as gone: %v", err)
	}
	var none *purge.Set
	if held, err := none.InCommit(w, plumbing.Hash{1}); err != nil || len(held) > 0 {
		t.Errorf("in none: %v, %v", held, err)
	}
}
