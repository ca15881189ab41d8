package repository_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
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

	// sync/gitstore tries every step of its own; here every fifth is enough.
	for n := 1; ; n += 5 {
		acknowledged, died := dieAt(t, h, m, n, func(dir string, acknowledged bool) {
			got := eventsIn(t, dir)
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

func onlyIn(ids, without []event.ID) []event.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id event.ID) bool { return slices.Contains(without, id) })
}

// dieAt pushes to a copy of the hub that dies at the n-th operation on its
// disk, and has check look at what is found after the process, and after the
// power, is gone.
func dieAt(t *testing.T, h *hub, m *machine, n int, check func(dir string, acknowledged bool)) (acknowledged, died bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hub")
	if err := os.CopyFS(dir, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	fsys, err := faultfs.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := repository.NewSet(fsys, dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	team, err := set.Shared("team")
	if err != nil {
		t.Fatal(err)
	}
	fsys.DieAt(n)
	before := fsys.Ops()
	var out repository.Outcome
	conn, end := h.serve(func(ctx context.Context, rw io.ReadWriteCloser) (err error) {
		out, err = team.ServePush(ctx, rw, h.pusher(m.name))
		return err
	})
	client := pushOver(conn, m)
	hub := end()
	died = fsys.Ops()-before >= n
	// A dying hub cannot release its files in order.
	_ = set.Close()
	acknowledged = client == nil && hub == nil && out.Taken
	check(dir, acknowledged)
	if left, err := filepath.Glob(filepath.Join(dir, "spaces", "team.git", "objects", "incoming", "*", "*")); err != nil || len(left) > 0 {
		t.Fatalf("after step %d there is left %v, %v", n, left, err)
	}
	for _, lost := range []faultfs.Contents{faultfs.Kept, faultfs.Lost} {
		after := filepath.Join(t.TempDir(), "after")
		if err := fsys.Crash(after, faultfs.Survival{Names: fsys.Unsynced() / 2, Contents: lost}); err != nil {
			t.Fatal(err)
		}
		check(after, acknowledged)
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

// eventsIn opens a hub's folder as the next process does, and as git does.
func eventsIn(t *testing.T, dir string) []event.ID {
	t.Helper()
	log, err := eventlog.Open(disk.OS, filepath.Join(dir, "spaces", "team.git"), "team")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ids := eventsOf(t, log)
	// The next push must be able to begin.
	lock, err := log.Store().Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	return ids
}
