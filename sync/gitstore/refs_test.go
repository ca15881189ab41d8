package gitstore_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// twoCommits returns a store with two commits that no ref leads to.
func twoCommits(t testing.TB) (s *gitstore.Store, a, b plumbing.Hash) {
	t.Helper()
	s = newStore(t, gitstore.WithRefWait(0))
	one, two := commitOf("one"), commitOf("two")
	if _, err := s.WritePack(append(one, two...)); err != nil {
		t.Fatal(err)
	}
	return s, one[2].Hash, two[2].Hash
}

func update(t testing.TB, s *gitstore.Store, name string, old, new plumbing.Hash) {
	t.Helper()
	if err := s.UpdateRef(name, old, new); err != nil {
		t.Fatal(err)
	}
}

func mustBe(t testing.TB, s *gitstore.Store, name string, want plumbing.Hash) {
	t.Helper()
	got, err := s.Ref(name)
	if want.IsZero() {
		if !errors.Is(err, plumbing.ErrReferenceNotFound) {
			t.Errorf("%s is %s, %v; want it absent", name, got, err)
		}
	} else if err != nil || got != want {
		t.Errorf("%s is %s, %v; want %s", name, got, err, want)
	}
	out, err := tryGit(t, s.Dir(), "", "rev-parse", "--verify", "-q", name)
	if (err == nil) != !want.IsZero() || err == nil && strings.TrimSpace(out) != want.String() {
		t.Errorf("stock git sees %s at %q, %v; want %s", name, out, err, want)
	}
}

func TestRefLife(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	for _, name := range []string{"refs/heads/main", "refs/cairn/epoch", "refs/remotes/hub/main", "refs/heads/deep/er/still"} {
		mustBe(t, s, name, plumbing.ZeroHash)
		update(t, s, name, plumbing.ZeroHash, a)
		mustBe(t, s, name, a)
		update(t, s, name, a, b)
		mustBe(t, s, name, b)
	}
	refs, err := s.Refs()
	if err != nil || len(refs) != 4 {
		t.Errorf("Refs() = %v, %v", refs, err)
	}
	if err := s.DeleteRef("refs/cairn/epoch", b); err != nil {
		t.Fatal(err)
	}
	mustBe(t, s, "refs/cairn/epoch", plumbing.ZeroHash)
}

func TestRefThatIsPackedOnly(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	for _, name := range []string{"refs/heads/main", "refs/heads/other", "refs/heads/third"} {
		update(t, s, name, plumbing.ZeroHash, a)
	}
	git(t, s.Dir(), "tag", "-a", "-m", "v1", "v1", "main")
	git(t, s.Dir(), "pack-refs", "--all", "--prune")
	if _, err := os.Stat(filepath.Join(s.Dir(), "refs", "heads", "main")); err == nil {
		t.Fatal("the ref is still loose")
	}
	mustBe(t, s, "refs/heads/main", a)
	if err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, b); !errors.Is(err, gitstore.ErrRefChanged) {
		t.Errorf("creating a ref that is packed: %v", err)
	}
	update(t, s, "refs/heads/main", a, b)
	mustBe(t, s, "refs/heads/main", b)
	if err := s.DeleteRef("refs/heads/other", a); err != nil {
		t.Fatal(err)
	}
	mustBe(t, s, "refs/heads/other", plumbing.ZeroHash)
	mustBe(t, s, "refs/heads/third", a)
	if got := strings.TrimSpace(git(t, s.Dir(), "rev-parse", "v1^{commit}")); got != a.String() {
		t.Errorf("the tag leads to %s", got)
	}
	fsck(t, s.Dir())
}

func TestLooseRefIsNewerThanPackedOne(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	update(t, s, "refs/heads/x", plumbing.ZeroHash, a)
	git(t, s.Dir(), "pack-refs", "--all")
	update(t, s, "refs/heads/x", a, b)
	mustBe(t, s, "refs/heads/x", b)
	if err := s.DeleteRef("refs/heads/x", b); err != nil {
		t.Fatal(err)
	}
	mustBe(t, s, "refs/heads/x", plumbing.ZeroHash) // and not the packed value again
}

func TestEmptyRefIsNeitherAbsentNorThePackedValue(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	git(t, s.Dir(), "pack-refs", "--all")
	write(t, filepath.Join(s.Dir(), "refs", "heads", "main"), "")
	calls := map[string]func() error{
		"Head":          func() error { _, err := s.Head(); return err },
		"Ref":           func() error { _, err := s.Ref("refs/heads/main"); return err },
		"Refs":          func() error { _, err := s.Refs(); return err },
		"UpdateRef":     func() error { return s.UpdateRef("refs/heads/main", a, b) },
		"UpdateRef new": func() error { return s.UpdateRef("refs/heads/main", plumbing.ZeroHash, b) },
	}
	for name, call := range calls {
		if _, ok := errors.AsType[*gitstore.GarbledRefError](call()); !ok {
			t.Errorf("%s: want a GarbledRefError", name)
		}
	}
	if got, err := os.ReadFile(filepath.Join(s.Dir(), "refs", "heads", "main")); err != nil || len(got) > 0 {
		t.Errorf("the file holds %q, %v: nothing should have touched it", got, err)
	}
}

func TestUpdateRefComparesFirst(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	err := s.UpdateRef("refs/heads/main", a, b)
	changed, ok := errors.AsType[*gitstore.RefChangedError](err)
	if !ok || !errors.Is(err, gitstore.ErrRefChanged) || changed.Want != a || !changed.Have.IsZero() {
		t.Errorf("updating a ref that is not there: %v", err)
	}
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	err = s.UpdateRef("refs/heads/main", plumbing.ZeroHash, b)
	if changed, ok := errors.AsType[*gitstore.RefChangedError](err); !ok || changed.Have != a {
		t.Errorf("creating a ref that is there: %v", err)
	}
	mustBe(t, s, "refs/heads/main", a)
	if names, _ := filepath.Glob(filepath.Join(s.Dir(), "refs", "heads", "*.lock")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestUpdateRefNeedsItsObject(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	err := s.UpdateRef("refs/heads/main", a, blob("never stored").Hash)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("got %v, want ErrObjectNotFound", err)
	}
	mustBe(t, s, "refs/heads/main", a)
}

func TestHeadsBranchIsNotDeleted(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	if err := s.DeleteRef("refs/heads/main", a); !errors.Is(err, gitstore.ErrHeadBranch) {
		t.Errorf("got %v, want ErrHeadBranch", err)
	}
	mustBe(t, s, "refs/heads/main", a)
}

func TestSetHead(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/other", plumbing.ZeroHash, a)
	if err := s.SetHead("refs/heads/other"); err != nil {
		t.Fatal(err)
	}
	if head, err := s.Head(); err != nil || head != (gitstore.Head{Ref: "refs/heads/other", Commit: a}) {
		t.Errorf("Head() = %v, %v", head, err)
	}
	if got := strings.TrimSpace(git(t, s.Dir(), "symbolic-ref", "HEAD")); got != "refs/heads/other" {
		t.Errorf("stock git says %s", got)
	}
	for _, bad := range []string{"refs/tags/v1", "main", a.String(), "refs/heads/HEAD", "refs/heads/../x"} {
		if err := s.SetHead(bad); err == nil {
			t.Errorf("HEAD was set to %s", bad)
		}
	}
}

func TestDetachedHeadIsNoticedAtEveryCall(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	git(t, s.Dir(), "update-ref", "--no-deref", "HEAD", a.String())
	if _, err := s.Head(); !errors.Is(err, gitstore.ErrDetached) {
		t.Errorf("got %v, want ErrDetached", err)
	}
	git(t, s.Dir(), "symbolic-ref", "HEAD", "refs/heads/main")
	if _, err := s.Head(); err != nil {
		t.Error(err)
	}
}

func TestBadRefNames(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	for _, name := range []string{
		"", "main", "HEAD", "refs", "refs/", "refs/heads/", "refs/heads//x", "/refs/heads/x", "refs/heads/x/", "refs/heads/.x",
		"refs/heads/x.", "refs/heads/a..b", "refs/heads/x.lock", "refs/heads/x.lock/y", "refs/heads/a b", "refs/heads/a~1",
		"refs/heads/a^", "refs/heads/a:b", "refs/heads/a?", "refs/heads/a*", "refs/heads/[a", `refs/heads/a\b`, "refs/heads/a@{1}",
		"refs/heads/a\n", "refs/heads/\x7f", "refs/heads/\xff", "refs/../config", "refs/heads/HEAD",
		"refs/heads/" + strings.Repeat("x", 200), "objects/pack/x",
	} {
		if err := s.UpdateRef(name, plumbing.ZeroHash, a); !errors.Is(err, gitstore.ErrRefName) {
			t.Errorf("%q: %v, want ErrRefName", name, err)
		}
		if name == "refs/heads/HEAD" || name == "objects/pack/x" || len(name) > 200 {
			continue // names for git, but no refs for us
		}
		if _, err := tryGit(t, s.Dir(), "", "check-ref-format", strings.ReplaceAll(name, "\xff", "\x01")); err == nil {
			t.Errorf("%q: stock git takes it", name)
		}
	}
}

func TestRefsInEachOthersWay(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	update(t, s, "refs/heads/a/b", plumbing.ZeroHash, a)
	for range 2 { // loose, then packed
		for _, name := range []string{"refs/heads/a", "refs/heads/a/b/c"} {
			if err := s.UpdateRef(name, plumbing.ZeroHash, a); !errors.Is(err, gitstore.ErrRefName) {
				t.Errorf("%s beside refs/heads/a/b: %v", name, err)
			}
		}
		git(t, s.Dir(), "pack-refs", "--all")
	}
	if err := s.DeleteRef("refs/heads/a/b", a); err != nil {
		t.Fatal(err)
	}
	update(t, s, "refs/heads/a", plumbing.ZeroHash, a) // over the directory that is left
	mustBe(t, s, "refs/heads/a", a)
}

func TestSymbolicRefs(t *testing.T) {
	t.Parallel()
	s, a, b := twoCommits(t)
	update(t, s, "refs/remotes/hub/main", plumbing.ZeroHash, a)
	git(t, s.Dir(), "symbolic-ref", "refs/remotes/hub/HEAD", "refs/remotes/hub/main")
	git(t, s.Dir(), "symbolic-ref", "refs/remotes/hub/gone", "refs/remotes/hub/nowhere")
	git(t, s.Dir(), "symbolic-ref", "refs/x/a", "refs/x/b")
	git(t, s.Dir(), "symbolic-ref", "refs/x/b", "refs/x/a")
	refs, err := s.Refs()
	want := map[string]plumbing.Hash{"refs/remotes/hub/main": a, "refs/remotes/hub/HEAD": a}
	if err != nil || !maps.Equal(refs, want) {
		t.Errorf("Refs() = %v, %v; want %v", refs, err, want)
	}
	if h, err := s.Ref("refs/remotes/hub/HEAD"); err != nil || h != a {
		t.Errorf("through the symbolic ref: %s, %v", h, err)
	}
	if _, err := s.Ref("refs/x/a"); err == nil {
		t.Error("a circle of refs led somewhere")
	}
	if err := s.UpdateRef("refs/x/a", a, b); err == nil {
		t.Error("a symbolic ref was overwritten")
	}
}

func TestAnotherProgramsRefLock(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	lock := filepath.Join(s.Dir(), "refs", "heads", "main.lock")
	write(t, lock, "")
	err := s.UpdateRef("refs/heads/main", plumbing.ZeroHash, a)
	if locked, ok := errors.AsType[*gitstore.RefLockedError](err); !ok || locked.Path != lock {
		t.Errorf("got %v, want a RefLockedError that names %s", err, lock)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("the other program's lock is gone: %v", err)
	}
}

func TestRefLockFromBeforeTheSystemWasStarted(t *testing.T) {
	t.Parallel()
	s, a, _ := twoCommits(t)
	lock := filepath.Join(s.Dir(), "refs", "heads", "main.lock")
	write(t, lock, "")
	makeOld(t, lock)
	update(t, s, "refs/heads/main", plumbing.ZeroHash, a)
	mustBe(t, s, "refs/heads/main", a)
}

// makeOld dates a file back to before the system was started.
func makeOld(t testing.TB, path string) {
	t.Helper()
	long := time.Now().AddDate(-5, 0, 0)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
}

// A writer and readers on one ref: no reader may see it absent, garbled, or older than what it has seen.
func TestReadersDuringUpdates(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const rounds = 60
	order := map[plumbing.Hash]int{}
	var ids []plumbing.Hash
	for i := range rounds {
		objs := commitOf(fmt.Sprint(i))
		if _, err := s.WritePack(objs); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, objs[2].Hash)
		order[objs[2].Hash] = i
	}
	update(t, s, "refs/heads/main", plumbing.ZeroHash, ids[0])
	git(t, s.Dir(), "pack-refs", "--all")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		reader := openStore(t, s.Dir())
		wg.Go(func() {
			seen := 0
			for {
				head, err := reader.Head()
				if err != nil {
					t.Error(err)
					return
				}
				now, ok := order[head.Commit]
				if !ok || now < seen {
					t.Errorf("head is %s (%d) after %d", head.Commit, now, seen)
					return
				}
				seen = now
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range rounds - 1 {
		if err := s.UpdateRef("refs/heads/main", ids[i], ids[i+1]); err != nil {
			t.Error(err)
			break
		}
		if i%20 == 0 {
			git(t, s.Dir(), "pack-refs", "--all")
		}
	}
	close(done)
	wg.Wait()
}

func TestFirstCommitRace(t *testing.T) {
	t.Parallel()
	for range 10 {
		s := newStore(t)
		var won, lost int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 4 {
			objs := commitOf(fmt.Sprint("first of ", i))
			if _, err := s.WritePack(objs); err != nil {
				t.Fatal(err)
			}
			other := openStore(t, s.Dir())
			wg.Go(func() {
				err := other.UpdateRef("refs/heads/main", plumbing.ZeroHash, objs[2].Hash)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case errors.Is(err, gitstore.ErrRefChanged):
					lost++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won != 1 || lost != 3 {
			t.Errorf("%d won and %d lost, want one winner of 4", won, lost)
		}
	}
}

func FuzzPackedRefs(f *testing.F) {
	s, a, _ := twoCommits(f)
	path := filepath.Join(s.Dir(), "packed-refs")
	f.Add("# pack-refs with: peeled fully-peeled sorted \n" + a.String() + " refs/heads/x\n^" + a.String() + "\n")
	f.Add("^" + a.String() + "\n")
	f.Add(a.String() + " refs/heads/x")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		refs, err := s.Refs()
		if _, garbled := errors.AsType[*gitstore.GarbledRefError](err); err != nil && !garbled {
			t.Error(err)
		}
		for name, h := range refs {
			if !strings.HasPrefix(name, "refs/") || h.IsZero() {
				t.Errorf("ref %q is %s", name, h)
			}
		}
	})
}
