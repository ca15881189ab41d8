package gitstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/faultfs"
	"cairn/sync/gitstore"
)

// A faulty is a repository with one commit on a disk that fails.
type faulty struct {
	fs    *faultfs.FS
	store *gitstore.Store
	first plumbing.Hash
}

func newFaulty(t testing.TB) *faulty {
	t.Helper()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	f, err := faultfs.New(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return &faulty{fs: f, store: openOn(t, f, s.Dir()), first: first}
}

func openOn(t testing.TB, fsys disk.FS, dir string) *gitstore.Store {
	t.Helper()
	s, err := gitstore.Open(fsys, dir, gitstore.WithRefWait(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) // on a disk that fails for good so does this
	return s
}

// mustBeWhole opens a repository afresh and reads all its history: it must end in first, and start in one of heads.
func mustBeWhole(t testing.TB, what, dir string, first plumbing.Hash, heads ...plumbing.Hash) {
	t.Helper()
	s, err := gitstore.Open(quick, dir, gitstore.WithRefWait(0))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer s.Close()
	head, err := s.Head()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	known := false
	for _, h := range heads {
		known = known || h == head.Commit
	}
	if !known {
		t.Errorf("%s: head is %s, want one of %v", what, head.Commit, heads)
	}
	if err := walkHistory(s, first); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if _, err := tryAppend(t, s, "next, after "+what); err != nil {
		t.Errorf("%s: the next append fails: %v", what, err)
	}
}

// An append that fails at any operation loses nothing, and the next one works.
func TestAppendOnAFailingDisk(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n++ {
		f := newFaulty(t)
		objs := commitOf("second", f.first)
		second := objs[2].Hash
		f.fs.FailAt(n)
		_, err := tryAppend(t, f.store, "second")
		f.fs.FailAt(0)
		done = err == nil && f.fs.Ops() < n
		if err != nil && !errors.Is(err, faultfs.ErrInjected) {
			t.Errorf("operation %d: %v", n, err)
		}
		heads := []plumbing.Hash{second}
		if err != nil {
			heads = append(heads, f.first)
		}
		mustBeWhole(t, fmt.Sprint("failure of operation ", n), f.store.Dir(), f.first, heads...)
		if n > 1000 {
			t.Fatal("an append takes more than 1000 operations")
		}
	}
}

// otherWrites are what changes a repository besides an append. None of them moves main or removes an object.
var otherWrites = map[string]func(t testing.TB, f *faulty) error{
	"publish": func(t testing.TB, f *faulty) error {
		q, err := f.store.Quarantine()
		if err != nil {
			return err
		}
		err = q.Receive(t.Context(), bytes.NewReader(packOfSecond), gitstore.Limits{})
		if err == nil {
			err = q.Publish()
		}
		return errors.Join(err, q.Discard())
	},
	"compact": func(t testing.TB, f *faulty) error {
		stats, err := f.store.CompactAt(t.Context(), 2)
		if err == nil && stats.Packs < 3 {
			err = fmt.Errorf("nothing was compacted: %+v", stats)
		}
		return err
	},
	"join": func(t testing.TB, f *faulty) error {
		stats, err := f.store.JoinAll(t.Context())
		if err == nil && stats.Packs < 3 {
			err = fmt.Errorf("nothing was joined: %+v", stats)
		}
		return err
	},
	"delete": func(_ testing.TB, f *faulty) error { return f.store.DeleteRef("refs/heads/side", f.first) },
	"head":   func(_ testing.TB, f *faulty) error { return f.store.SetHead("refs/heads/main") },
}

// oneMore is in the repository before any of the otherWrites.
var oneMore = blob("more 0")

// newFullFaulty is newFaulty with packs enough to be joined, and a second branch.
func newFullFaulty(t testing.TB) *faulty {
	t.Helper()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	for i := range 3 {
		if _, err := s.WritePack(commitOf(fmt.Sprint("more ", i))); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, "refs/heads/side", plumbing.ZeroHash, first)
	f, err := faultfs.New(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return &faulty{fs: f, store: openOn(t, f, s.Dir()), first: first}
}

func TestOtherWritesOnAFailingDisk(t *testing.T) {
	t.Parallel()
	for name, write := range otherWrites {
		for n, done := 1, false; !done; n += 1 + n/8 {
			f := newFullFaulty(t)
			before := f.fs.Ops()
			f.fs.FailAt(n)
			err := write(t, f)
			f.fs.FailAt(0)
			done = f.fs.Ops() < before+n
			if err != nil && !errors.Is(err, faultfs.ErrInjected) {
				t.Errorf("%s, operation %d: %v", name, n, err)
			}
			mustBeWhole(t, fmt.Sprintf("%s, failure of operation %d", name, n), f.store.Dir(), f.first, f.first)
			mustObject(t, openStore(t, f.store.Dir()), oneMore)
		}
	}
}

func TestOtherWritesAndPowerCut(t *testing.T) {
	t.Parallel()
	for name, write := range otherWrites {
		for n, done := 1, false; !done; n += 1 + n/8 {
			f := newFullFaulty(t)
			f.fs.DieAt(n)
			done = write(t, f) == nil
			for _, s := range survivals(f.fs.Unsynced(), n) {
				dir := filepath.Join(t.TempDir(), "after.git")
				if err := f.fs.Crash(dir, s); err != nil {
					t.Fatal(err)
				}
				clearRefLocks(t, dir)
				mustBeWhole(t, fmt.Sprintf("%s, power cut at operation %d, %+v", name, n, s), dir, f.first, f.first)
				mustObject(t, openStore(t, dir), oneMore)
			}
		}
	}
}

// packOfSecond is a push of two objects, one a delta.
var packOfSecond = encodePack([]rawEntry{
	whole(bytes.Repeat([]byte("b"), 300)), ofsDelta(1, appendingDelta(300, "tail")),
})

// A power cut at any moment of an append, whatever of the unsynced part survives: what was acknowledged is there, the head
// is the old one or the new one, and the next append works.
func TestAppendAndPowerCut(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n++ {
		f := newFaulty(t)
		second := commitOf("second", f.first)[2].Hash
		f.fs.DieAt(n)
		_, err := tryAppend(t, f.store, "second")
		done = err == nil
		heads := []plumbing.Hash{second}
		if !done {
			heads = append(heads, f.first)
		}
		for _, s := range survivals(f.fs.Unsynced(), n) {
			dir := filepath.Join(t.TempDir(), "after.git")
			if err := f.fs.Crash(dir, s); err != nil {
				t.Fatal(err)
			}
			clearRefLocks(t, dir)
			mustBeWhole(t, fmt.Sprintf("power cut at operation %d, %+v", n, s), dir, f.first, heads...)
		}
	}
}

// survivals chooses some of the ways in which unsynced changes may survive, other ones for each seed.
func survivals(names, seed int) []faultfs.Survival {
	all := []faultfs.Contents{faultfs.Lost, faultfs.Halved, faultfs.Zeroed, faultfs.Kept}
	return []faultfs.Survival{
		{Names: names, Contents: all[seed%3]},
		{Names: seed % (names + 1), Contents: all[seed/2%4]},
	}
}

// clearRefLocks does what the start of the system does for a real power cut: it makes the lock files look old.
func clearRefLocks(t testing.TB, dir string) {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(dir, "refs", "heads", "*.lock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range locks {
		makeOld(t, path)
	}
}

func TestInitAndPowerCut(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n++ {
		root := t.TempDir()
		f, err := faultfs.New(root)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, "repo.git")
		f.DieAt(n)
		done = gitstore.Init(f, dir) == nil
		for _, s := range survivals(f.Unsynced(), n) {
			after := filepath.Join(t.TempDir(), "after")
			if err := f.Crash(after, s); err != nil {
				t.Fatal(err)
			}
			store, err := gitstore.Open(quick, filepath.Join(after, "repo.git"))
			if err == nil {
				err = store.Close()
			}
			if done && err != nil || err != nil && !errors.Is(err, gitstore.ErrNotRepository) {
				t.Errorf("power cut at operation %d, %+v: %v", n, s, err)
			}
		}
	}
}
