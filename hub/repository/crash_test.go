package repository_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/internal/hubwire"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitwire"
)

// A hub that is killed, or loses power, at any step of a push is whole
// afterwards: it has all of the push or nothing, all of it if it said so, and
// no leftovers.
func TestAHubThatDiesDuringAPushIsWholeAfterwards(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("stored before")
	m.push(event.MainRef).mustBeTaken(t)
	old := h.events()
	// The other one was there first, so that the push has to be joined.
	other := h.clone("desktop")
	other.note("first")
	other.push(event.MainRef).mustBeTaken(t)
	first := h.events()
	m.note("second")
	both := append(slices.Clone(first), onlyIn(eventsOf(t, m.log), old)...)
	slices.Sort(both)

	// sync/gitstore tries every step of its own; here the first ones and some of the later do in the short form.
	for n := 1; ; n += 1 + longtest.Rounds(n/4, 0) {
		acknowledged, died := dieAt(t, h, m, n, func(dir string, acknowledged bool) {
			got, err := eventsIn(dir)
			if err != nil {
				t.Fatalf("after step %d (acknowledged: %v): %v", n, acknowledged, err)
			}
			if acknowledged && !slices.Equal(got, both) || !slices.Equal(got, both) && !slices.Equal(got, first) {
				t.Fatalf("after step %d (acknowledged: %v) the hub has %v", n, acknowledged, got)
			}
		})
		if !died && !acknowledged {
			t.Fatalf("the push fails although the hub does not die at step %d", n)
		}
		if !died {
			if n < 20 {
				t.Errorf("a push has only %d steps, so little was tried", n)
			}
			return
		}
	}
}

// A hub that leaves out a sync loses a push that it acknowledged: the look above must see that.
func TestAHubThatLeavesOutASyncIsFound(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	want := []event.ID{m.note("acknowledged").ID}
	for lie := 1; ; lie++ {
		v := newVictim(t, h)
		v.fs.LieAt(lie)
		if !v.push(h, m) {
			t.Fatal("the push was not taken")
		}
		got, err := eventsIn(v.crash(t, faultfs.Survival{Contents: faultfs.Lost}))
		if err != nil || !slices.Equal(got, want) {
			t.Logf("without sync %d: %v, %v", lie, got, err)
			return
		}
		if lie > v.fs.Syncs() {
			t.Fatal("no sync is missed")
		}
	}
}

// A space that was made is there after a power cut, with the folders that lead to it.
func TestASpaceThatWasMadeSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	v := victim{dir: t.TempDir()}
	var err error
	if v.fs, err = faultfs.New(v.dir); err != nil {
		t.Fatal(err)
	}
	set := repository.NewSet(v.fs, v.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	if _, err := set.Create("team", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, err := eventsIn(v.crash(t, faultfs.Survival{Contents: faultfs.Lost})); err != nil || len(ids) > 0 {
		t.Errorf("found %v, %v", ids, err)
	}
}

func onlyIn(ids, without []event.ID) []event.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id event.ID) bool { return slices.Contains(without, id) })
}

// A victim is a copy of a hub on a disk that can be made to fail.
type victim struct {
	dir string
	fs  *faultfs.FS
}

func newVictim(t *testing.T, h *hub) victim {
	t.Helper()
	v := victim{dir: filepath.Join(t.TempDir(), "hub")}
	err := os.CopyFS(v.dir, os.DirFS(h.dir))
	if err == nil {
		v.fs, err = faultfs.New(v.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// push serves one push of m and says whether all agree that it was taken.
func (v victim) push(h *hub, m *machine) (acknowledged bool) {
	set := repository.NewSet(v.fs, v.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	// A dying hub cannot release its files in order.
	defer func() { _ = set.Close() }()
	var out repository.Outcome
	conn, end := h.serve(func(ctx context.Context, rw hubwire.Stream) error {
		team, err := set.Shared("team")
		if err == nil {
			out, err = team.ServePush(ctx, rw, h.pusher(m.name))
		}
		return err
	})
	client := pushOver(conn, m)
	return end() == nil && client == nil && out.Taken
}

// crash is what a power cut leaves, as old as the start of the system makes it.
func (v victim) crash(t *testing.T, s faultfs.Survival) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "after")
	err := v.fs.Crash(dir, s)
	then := time.Now().AddDate(-10, 0, 0)
	err = errors.Join(err, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, then, then))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// dieAt pushes to a copy of the hub that dies at the n-th operation on its
// disk, and has check look at what is found after the process, and after the
// power, is gone.
func dieAt(t *testing.T, h *hub, m *machine, n int, check func(dir string, acknowledged bool)) (acknowledged, died bool) {
	t.Helper()
	v := newVictim(t, h)
	v.fs.DieAt(n)
	before := v.fs.Ops()
	acknowledged = v.push(h, m)
	died = v.fs.Ops()-before >= n
	check(v.dir, acknowledged)
	if left, err := filepath.Glob(filepath.Join(v.dir, "spaces", "team.git", "objects", "incoming", "*", "*")); err != nil || len(left) > 0 {
		t.Fatalf("after step %d there is left %v, %v", n, left, err)
	}
	names := v.fs.Unsynced()
	all := []faultfs.Survival{
		{Names: names, Contents: faultfs.Lost}, {Names: names / 2, Contents: faultfs.Halved}, {Names: names, Contents: faultfs.Zeroed},
		{Names: 0, Contents: faultfs.Kept}, {Names: names, Contents: faultfs.Halved}, {Names: names / 2, Contents: faultfs.Zeroed},
	}
	for i := range longtest.Rounds(2, len(all)) {
		check(v.crash(t, all[(n+i)%len(all)]), acknowledged)
	}
	return acknowledged, died
}

func pushOver(conn io.ReadWriteCloser, m *machine) error {
	defer conn.Close()
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		return err
	}
	_, err = gitwire.Push(context.Background(), conn, ad, gitwire.Command{New: m.tip(), Ref: repository.ForMain}, gitwire.PushOptions{
		WritePack: func(w io.Writer) error { return m.encode(w, m.tip(), plumbing.ZeroHash) },
	})
	return err
}

// eventsIn opens a hub's folder as the next process does, and has stock git judge it.
func eventsIn(dir string) (ids []event.ID, err error) {
	repo := filepath.Join(dir, "spaces", "team.git")
	log, err := eventlog.Open(disk.OS, repo, "team")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	head, err := log.Head()
	if err != nil {
		return nil, err
	}
	err = log.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		ids = append(ids, s.ID)
		return s.Err
	})
	slices.Sort(ids)
	if err != nil {
		return ids, err
	}
	// The next push must be able to begin.
	lock, err := log.Store().Lock(context.Background())
	if err == nil {
		err = lock.Unlock()
	}
	if err != nil {
		return ids, err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return ids, nil // newHub's tests say that it is missing
	}
	out, err := exec.Command(git, "-C", repo, "fsck", "--strict", "--full", "--no-dangling").CombinedOutput()
	if err != nil || len(out) > 0 {
		err = fmt.Errorf("git fsck: %v %s", err, out)
	}
	return ids, err
}
