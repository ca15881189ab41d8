package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// hookedFS calls a function before a change in the pack folder.
type hookedFS struct {
	disk.FS
	removing func(name string)
	syncing  func(dir string)
}

func (f *hookedFS) Remove(name string) error {
	if f.removing != nil {
		f.removing(name)
	}
	return f.FS.Remove(name)
}

func (f *hookedFS) SyncDir(dir string) error {
	if f.syncing != nil {
		f.syncing(dir)
	}
	return f.FS.SyncDir(dir)
}

// hooked is a repository with that many packs.
func hooked(t *testing.T, packs int) (*gitstore.Store, *hookedFS) {
	t.Helper()
	s := newStore(t)
	for i := range packs {
		appendCommit(t, s, fmt.Sprint("note ", i))
	}
	hooks := &hookedFS{FS: quick}
	h, err := gitstore.Open(hooks, s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, hooks
}

// Whoever appends while packs are exchanged waits neither for the disk nor until all old packs are removed.
func TestAnAppendGetsATurnWhilePacksAreExchanged(t *testing.T) {
	t.Parallel()
	const many = 60
	s, hooks := hooked(t, many)
	locked, waits := error(nil), 0
	hooks.syncing = func(string) {
		l, err := disk.TryLock(filepath.Join(s.Dir(), "append.lock"))
		if err == nil {
			err = l.Unlock()
		}
		locked, waits = errors.Join(locked, err), waits+1
	}
	left := make(chan int, 1)
	hooks.removing = func(name string) {
		if !strings.HasSuffix(name, ".pack") {
			return
		}
		if len(packs(t, s.Dir())) == many+1 { // the first of all
			go func() {
				l, err := disk.Lock(t.Context(), filepath.Join(s.Dir(), "append.lock"))
				left <- len(packs(t, s.Dir()))
				if err = errors.Join(err, l.Unlock()); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(2 * time.Millisecond) // so that it is in the queue
	}
	if stats, err := s.CompactNow(t.Context()); err != nil || stats.Packs != many || stats.Left != 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	if locked != nil || waits == 0 {
		t.Errorf("%d waits for the disk, the lock was held: %v", waits, locked)
	}
	if n := <-left; n < 2 {
		t.Errorf("whoever came at the beginning got a turn when %d packs were left", n)
	}
	if n := len(packs(t, s.Dir())); n != 1 {
		t.Errorf("%d packs in the end", n)
	}
}

// A purge may come between the steps and take the new pack away, or an old one. Nothing that is gone comes back, and
// nothing else goes.
func TestAPackThatGoesDuringAnExchangeLosesNothing(t *testing.T) {
	t.Parallel()
	s, hooks := hooked(t, 20)
	before := packs(t, s.Dir())
	want := listObjects(t, s.Dir())
	hooks.syncing = func(dir string) {
		hooks.syncing = nil
		for _, name := range packs(t, s.Dir()) {
			if slices.Contains(before, name) {
				continue
			}
			for _, ext := range []string{".pack", ".idx"} {
				if err := os.Remove(filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".pack")+ext)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	stats, err := s.CompactNow(t.Context())
	if err != nil || stats.Left != len(before) {
		t.Errorf("%+v, %v", stats, err)
	}
	if got := packs(t, s.Dir()); !slices.Equal(got, before) {
		t.Errorf("%d packs, want the %d from before", len(got), len(before))
	}
	if got := listObjects(t, s.Dir()); !slices.Equal(got, want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	fsck(t, s.Dir())
}

// Objects that are removed for good between the steps do not come back, and what was to stay stays.
func TestWhatIsRemovedDuringAnExchangeStaysAway(t *testing.T) {
	t.Parallel()
	s, hooks := hooked(t, 20)
	purged := gitstore.NewObject(plumbing.BlobObject, []byte("to be removed"))
	if _, err := s.WritePack([]gitstore.Object{purged}); err != nil {
		t.Fatal(err)
	}
	// The next holder of the lock lets go of the protection that a new pack has.
	appendCommit(t, s, "one more")
	all, err := s.IDs()
	if err != nil {
		t.Fatal(err)
	}
	stay := slices.DeleteFunc(all, func(h plumbing.Hash) bool { return h == purged.Hash })
	hooks.syncing = func(string) {
		hooks.syncing = nil
		if n := len(packs(t, s.Dir())); n != 23 {
			t.Errorf("%d packs: the new one is not beside the old ones", n)
		}
		name, err := s.GatherPack(t.Context(), stay)
		if err != nil {
			t.Error(err)
			return
		}
		l, err := s.Lock(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		_, err = s.RemoveAllBut(name)
		if err = errors.Join(err, l.Unlock()); err != nil {
			t.Error(err)
		}
	}
	if stats, err := s.CompactNow(t.Context()); err != nil || stats.Packs != 22 {
		t.Errorf("%+v, %v", stats, err)
	}
	if n := len(packs(t, s.Dir())); n != 1 {
		t.Errorf("%d packs are left", n)
	}
	if got, err := s.IDs(); err != nil || !slices.Equal(got, stay) {
		t.Errorf("%d objects, want %d, %v", len(got), len(stay), err)
	}
	if has, err := s.Has(purged.Hash); err != nil || has {
		t.Errorf("the removed object is there: %v, %v", has, err)
	}
}
