package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/faultfs"
	"cairn/sync/gitstore"
)

// appendLate is tryAppend for a writer who has a write-ahead log.
func appendLate(t testing.TB, s *gitstore.Store, objs []gitstore.Object) (pack plumbing.Hash, err error) {
	t.Helper()
	l, err := s.Lock(t.Context())
	if err != nil {
		return plumbing.Hash{}, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	head, err := s.Head()
	if err != nil {
		return plumbing.Hash{}, err
	}
	late, err := s.NewLatePack(objs)
	if err != nil {
		return plumbing.Hash{}, err
	}
	if err := late.Store(); err != nil {
		return plumbing.Hash{}, err
	}
	return late.ID(), s.UpdateRefLater(head.Ref, head.Commit, objs[len(objs)-1].Hash)
}

// makeAgain makes again what was appended late, as a writer does who finds it in its write-ahead log.
func makeAgain(t testing.TB, s *gitstore.Store, pack plumbing.Hash, objs []gitstore.Object) {
	t.Helper()
	l, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.RewritePack(objs)
	if err == nil {
		err = point(s, objs[len(objs)-1].Hash)
	}
	if err == nil && id != pack {
		err = s.RemovePacks(pack)
	}
	if err := errors.Join(err, l.Unlock()); err != nil {
		t.Fatal(err)
	}
}

// point moves main durably, from wherever a power cut has left it.
func point(s *gitstore.Store, to plumbing.Hash) error {
	const main = "refs/heads/main"
	old, err := s.Ref(main)
	switch {
	case err != nil:
		return s.RestoreRef(main, to)
	case old == to:
		return s.SettleRef(main)
	}
	return s.UpdateRef(main, old, to)
}

func TestALatePackIsAtOnceVisibleToAll(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	reader := openStore(t, s.Dir())
	objs := commitOf("second", first)
	if _, err := appendLate(t, s, objs); err != nil {
		t.Fatal(err)
	}
	for _, o := range objs {
		mustObject(t, reader, o)
	}
	mustBe(t, reader, "refs/heads/main", objs[2].Hash)
	left, err := filepath.Glob(filepath.Join(s.Dir(), "objects", "pack", "*.keep"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	fsck(t, s.Dir())
}

// Another pack that holds an object may be just as late.
func TestALatePackReliesOnNoOther(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	objs := commitOf("first")
	if _, err := s.WritePack(objs[:2]); err != nil {
		t.Fatal(err)
	}
	id, err := appendLate(t, s, objs)
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob(filepath.Join(s.Dir(), "objects", "pack", "pack-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range others {
		if strings.Contains(path, id.String()) {
			continue
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	fsck(t, s.Dir())
}

// A power cut may spoil everything that was appended late. Nothing else is lost, and making it again mends all of it.
func TestWhatAPowerCutTakesOfLateWritesIsMadeAgain(t *testing.T) {
	t.Parallel()
	broken := 0
	for _, contents := range []faultfs.Contents{faultfs.Kept, faultfs.Lost, faultfs.Halved, faultfs.Zeroed, faultfs.Ended} {
		f := newFaulty(t)
		objs := commitOf("second", f.first)
		id, err := appendLate(t, f.store, objs)
		if err != nil {
			t.Fatal(err)
		}
		for names := int(contents) % 3; names <= f.fs.Unsynced(); names += 3 {
			dir := filepath.Join(t.TempDir(), "after.git")
			if err := f.fs.Crash(dir, faultfs.Survival{Names: names, Contents: contents}); err != nil {
				t.Fatal(err)
			}
			clearRefLocks(t, dir)
			if !isSecond(dir, objs) {
				broken++
			}
			s, err := gitstore.OpenDamaged(quick, dir)
			if err != nil {
				t.Fatal(err)
			}
			makeAgain(t, s, id, objs)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if names%2 == 0 {
				fsck(t, dir)
			}
			mustBeWhole(t, fmt.Sprintf("contents %d, %d names", contents, names), dir, f.first, objs[2].Hash)
		}
	}
	if broken == 0 {
		t.Error("every power cut left late writes whole: the test shows nothing")
	}
}

func isSecond(dir string, objs []gitstore.Object) bool {
	s, err := gitstore.Open(quick, dir)
	if err != nil {
		return false
	}
	defer s.Close()
	head, err := s.Head()
	if err != nil || head.Commit != objs[2].Hash {
		return false
	}
	for _, o := range objs {
		if _, err := s.Object(o.Hash); err != nil {
			return false
		}
	}
	return true
}

// Once what was late is settled, no power cut takes it, at whatever moment of the removal of the late packs.
func TestSettledWritesSurvive(t *testing.T) {
	t.Parallel()
	for n, done := 1, false; !done; n++ {
		f := newFaulty(t)
		objs := commitOf("second", f.first)
		late, err := appendLate(t, f.store, objs)
		if err != nil {
			t.Fatal(err)
		}
		id, err := f.store.RewritePack(objs)
		if err != nil {
			t.Fatal(err)
		}
		if id == late {
			t.Fatal("the pack has the name of the late one: the test shows less than it should")
		}
		if err := f.store.SettleRef("refs/heads/main"); err != nil {
			t.Fatal(err)
		}
		f.fs.DieAt(n)
		done = f.store.RemovePacks(late) == nil
		for _, s := range survivals(f.fs.Unsynced(), n) {
			dir := filepath.Join(t.TempDir(), "after.git")
			if err := f.fs.Crash(dir, s); err != nil {
				t.Fatal(err)
			}
			mustBeWhole(t, fmt.Sprintf("power cut at operation %d, %+v", n, s), dir, f.first, objs[2].Hash)
			if done {
				fsck(t, dir)
			}
		}
	}
}

func TestARefThatIsPackedIsSettledToo(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	git(t, s.Dir(), "pack-refs", "--all")
	if err := s.SettleRef("refs/heads/main"); err != nil {
		t.Error(err)
	}
	if err := s.SettleRef("refs/heads/none"); !errors.Is(err, plumbing.ErrReferenceNotFound) {
		t.Errorf("a ref that is not there: %v", err)
	}
}

func TestRewrittenTreesAreVersionsOfOneAnother(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var objs []gitstore.Object
	var raw []byte
	for i := range 100 {
		file := blob(fmt.Sprint("file ", i))
		raw = append(fmt.Appendf(raw, "100644 file-%04d\x00", i), file.Hash[:]...)
		objs = append(objs, file, gitstore.NewObject(plumbing.TreeObject, append([]byte(nil), raw...)))
	}
	id, err := s.RewritePack(objs)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objs {
		mustObject(t, s, o)
	}
	path := filepath.Join(s.Dir(), "objects", "pack", "pack-"+id.String()+".pack")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if max := int64(3*len(raw) + 100*100); info.Size() > max {
		t.Errorf("100 versions of a tree of %d bytes take %d bytes, want at most %d", len(raw), info.Size(), max)
	}
	git(t, s.Dir(), "verify-pack", path)
}

// Whoever was killed has left a .keep file, which a power cut may have emptied. One of a user's is something else.
func TestOnlyAUsersKeepProtectsALatePack(t *testing.T) {
	t.Parallel()
	for content, stays := range map[string]bool{
		"cairn: a ref will lead here\n": false,
		"cairn: a r":                    false,
		"\x00\x00irn: a r":              false,
		"\x00\x00\x00":                  false,
		"mine\n":                        true,
	} {
		s := newStore(t)
		objs := commitOf("first")
		id, err := appendLate(t, s, objs)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(s.Dir(), "objects", "pack", "pack-"+id.String())
		if err := os.WriteFile(base+".keep", []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RewritePack(objs); err != nil {
			t.Fatal(err)
		}
		if err := s.RemovePacks(id); err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(base + ".pack")
		if there := err == nil; there != stays {
			t.Errorf("with %q in its .keep file: pack there is %v", content, there)
		}
	}
}
