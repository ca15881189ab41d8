package gitstore_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/internal/disk"
	"cairn/sync/gitstore"
)

// A keepFS watches over .keep files: none may ever be made for a pack that is there. When the first pack is begun it lets
// somebody else work.
type keepFS struct {
	disk.FS
	t      *testing.T
	before func()
	done   *atomic.Bool
}

func (f keepFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if base, isKeep := strings.CutSuffix(name, ".keep"); isKeep && flag&os.O_CREATE != 0 {
		if _, err := f.FS.Lstat(base + ".pack"); err == nil {
			f.t.Errorf("%s is made for a pack that is there", name)
		}
	}
	begun := strings.HasSuffix(name, ".pack-draft") || strings.HasSuffix(name, ".pack") && strings.Contains(name, "incoming")
	if begun && flag&os.O_CREATE != 0 && f.done.CompareAndSwap(false, true) {
		f.before()
	}
	return f.FS.OpenFile(name, flag, perm)
}

// Two processes make the same pack at the same time: both join the same packs, or both were sent the same. A git that has
// noted the first one's pack must not see the second one keep it, or it drops the objects from what it writes anew and
// then removes the pack.
func TestThePackThatTwoProcessesMakeIsNeverKeptAgain(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(*testing.T, *gitstore.Store) error{
		"compact": func(t *testing.T, s *gitstore.Store) error {
			_, err := s.CompactAt(t.Context(), 2)
			return err
		},
		"receive": func(t *testing.T, s *gitstore.Store) error { return receive(t, s, packOfSecond).Publish() },
	} {
		s := newStore(t)
		head := appendCommit(t, s, "first")
		for _, text := range []string{"second", "third", "fourth"} {
			head = appendCommit(t, s, text)
		}
		other := openStore(t, s.Dir())
		watched := keepFS{quick, t, func() {
			if err := work(t, other); err != nil {
				t.Errorf("%s, the other one: %v", name, err)
			}
		}, new(atomic.Bool)}
		if err := work(t, openOn(t, watched, s.Dir())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !watched.done.Load() {
			t.Errorf("%s: nothing was published", name)
		}
		mustContain(t, openStore(t, s.Dir()), []string{head.String()})
		fsck(t, s.Dir())
	}
}

// A brokenFS gives no index its name. Before it says so it lets somebody else work.
type brokenFS struct {
	disk.FS
	before func()
}

var errBroken = errors.New("the disk is broken")

func (f brokenFS) Rename(from, to string) error {
	if strings.HasSuffix(to, ".idx") {
		f.before()
		return errBroken
	}
	return f.FS.Rename(from, to)
}

// Two processes were sent the same pack, and one of them fails before its pack has an index. The pack of that name is the
// other one's by now.
func TestAFailedPackDoesNotTakeAnothersAlong(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	head := appendCommit(t, s, "first")
	for _, text := range []string{"second", "third"} {
		head = appendCommit(t, s, text)
	}
	other := openStore(t, s.Dir())
	failing := openOn(t, brokenFS{quick, func() {
		if err := receive(t, other, packOfSecond).Publish(); err != nil {
			t.Errorf("the other one: %v", err)
		}
	}}, s.Dir())
	if err := receive(t, failing, packOfSecond).Publish(); !errors.Is(err, errBroken) {
		t.Errorf("the broken disk is not noticed: %v", err)
	}
	again := openStore(t, s.Dir())
	mustContain(t, again, []string{head.String()})
	mustObject(t, again, blob(strings.Repeat("b", 300)))
	fsck(t, s.Dir())
}

// A tidyFS has stock git tidy up between any two changes of names in the pack folder.
type tidyFS struct {
	disk.FS
	t    *testing.T
	repo string
	runs *int
}

func (f tidyFS) Rename(from, to string) error {
	err := f.FS.Rename(from, to)
	if strings.Contains(to, "pack-") {
		*f.runs++
		git(f.t, f.repo, "gc", "-q", "--prune=now")
	}
	return err
}

// Git takes an index without a pack for garbage. Whenever it looks, what we are about to publish survives.
func TestGarbageCollectionBetweenTheFilesOfAPack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := appendCommit(t, s, "first")
	runs := 0
	second := appendCommit(t, openOn(t, tidyFS{quick, t, s.Dir(), &runs}, s.Dir()), "second")
	if runs < 2 {
		t.Errorf("git tidied up %d times", runs)
	}
	again := openStore(t, s.Dir())
	mustContain(t, again, []string{first.String(), second.String()})
	for _, o := range commitOf("second", first) {
		mustObject(t, again, o)
	}
	fsck(t, s.Dir())
}
