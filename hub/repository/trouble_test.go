package repository_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

var errTrouble = errors.New("the disk has trouble")

// A troubled disk fails where it is told to.
type troubled struct {
	disk.FS
	mu      sync.Mutex
	trouble func(op, name string) bool
}

func (d *troubled) when(trouble func(op, name string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trouble = trouble
}

func (d *troubled) err(op, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trouble != nil && d.trouble(op, filepath.ToSlash(name)) {
		return errTrouble
	}
	return nil
}

func (d *troubled) Rename(from, to string) error {
	if err := d.err("rename", to); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

func (d *troubled) Remove(name string) error {
	if err := d.err("remove", name); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

func (d *troubled) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.err("readdir", name); err != nil {
		return nil, err
	}
	return d.FS.ReadDir(name)
}

func (d *troubled) SyncDir(name string) error {
	if err := d.err("sync", name); err != nil {
		return err
	}
	return d.FS.SyncDir(name)
}

func (d *troubled) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if err := d.err("open", name); err != nil {
		return nil, err
	}
	return d.FS.OpenFile(name, flag, perm)
}

// inTrouble is the leak of another hub process, on a disk that can have trouble.
func (l *leak) inTrouble(log *slog.Logger) (*troubled, *repository.Set, *repository.Repository) {
	l.t.Helper()
	d := &troubled{FS: disk.OS}
	set := repository.NewSet(d, l.dir, repository.Limits{}, log)
	l.t.Cleanup(func() { set.Close() })
	team, err := set.Shared("team")
	if err != nil {
		l.t.Fatal(err)
	}
	return d, set, team
}

// Once a purge is on record it happens. Whoever asked for it must not hear, nor
// write down, that nothing was purged.
func TestAPurgeThatBreaksOffSaysWhatItHasPurged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, op, path string
		happened       bool
	}{
		{"before the record", "rename", eventlog.EpochRef, false},
		{"at the record", "sync", path.Dir(eventlog.EpochRef), true},
		{"after the record", "rename", event.MainRef, true},
	} {
		l := newLeak(t)
		d, _, team := l.inTrouble(slog.New(slog.DiscardHandler))
		d.when(func(op, name string) bool { return op == c.op && strings.HasSuffix(name, c.path) })
		done, err := team.Purge(t.Context(), order(l.leaked.ID))
		if err == nil || slices.Contains(done.Events, l.leaked.ID) != c.happened {
			t.Errorf("%s: %+v, %v", c.name, done, err)
		}
		if c.happened && (code(err) != problem.Busy || done.Epoch != 1) {
			t.Errorf("%s: %+v, %v", c.name, done, err)
		}
		d.when(nil)
		again := l.purge(l.leaked.ID)
		if slices.Contains(again.Already, l.leaked.ID) != c.happened {
			t.Errorf("%s: again %+v", c.name, again)
		}
		l.mustBeClean(c.name)
	}
}

// What was purged is read nowhere any more, also while the branch has yet to
// follow.
func TestAPurgeThatIsHalfWayIsReadAsDone(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*repository.Repository, *leak) ([]event.ID, error){
		"all": func(team *repository.Repository, _ *leak) (ids []event.ID, err error) {
			err = team.Events(t.Context(), func(b []byte) error {
				e, err := event.Decode(b)
				ids = append(ids, e.ID)
				return err
			})
			return ids, err
		},
		"one": func(team *repository.Repository, l *leak) (ids []event.ID, err error) {
			for _, id := range append(slices.Clone(l.rest), l.leaked.ID) {
				found, err := team.Find(t.Context(), string(id))
				if err != nil {
					return nil, err
				}
				for _, e := range found {
					ids = append(ids, e.ID)
				}
			}
			return ids, nil
		},
	} {
		l := newLeak(t)
		d, _, team := l.inTrouble(slog.New(slog.DiscardHandler))
		d.when(func(op, name string) bool { return op == "rename" && strings.HasSuffix(name, event.MainRef) })
		if _, err := team.Purge(t.Context(), order(l.leaked.ID)); err == nil {
			t.Fatal("the purge was to break off")
		}
		if got := l.events(); !slices.Contains(got, l.leaked.ID) {
			t.Fatal("the branch has followed already")
		}
		d.when(nil)
		if got, err := read(team, l); err != nil || !slices.Equal(got, l.rest) {
			t.Errorf("%s: %v, %v, not %v", name, got, err, l.rest)
		}
		l.purge(l.leaked.ID)
		l.mustBeClean(name)
	}
}

// A purge that is finished was not refused because something else went wrong
// afterwards.
func TestAPurgeIsDoneThoughTheLookAfterItFails(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	d, _, team := l.inTrouble(slog.New(slog.DiscardHandler))
	finished := false
	d.when(func(op, name string) bool {
		failing := finished && strings.HasSuffix(name, "HEAD")
		finished = finished || op == "remove" && strings.HasSuffix(name, "purge.pending")
		return failing
	})
	done, err := team.Purge(t.Context(), order(l.leaked.ID))
	if err != nil || done.Undone != nil || !slices.Equal(done.Events, []event.ID{l.leaked.ID}) {
		t.Errorf("%+v, %v", done, err)
	}
	if !finished {
		t.Fatal("nothing failed")
	}
	d.when(nil)
	l.mustBeClean("afterwards")
}

// A look that fails is made up for by the next one: a watcher hears of every
// purge.
func TestAPurgeIsToldThoughTheFirstLookFails(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	d, set, team := l.inTrouble(slog.New(slog.DiscardHandler))
	w := set.Feed().Watch(team)
	defer w.Close()
	l.purge(l.leaked.ID)
	if _, err := team.Refs(t.Context()); err != nil { // the record of the purge is known from here on
		t.Fatal(err)
	}
	d.when(func(op, name string) bool { return op == "readdir" && strings.HasSuffix(name, "objects/pack") })
	if err := set.Look(t.Context()); !errors.Is(err, errTrouble) {
		t.Fatalf("the first look: %v", err)
	}
	d.when(nil)
	if err := set.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{eventlog.EpochRef, event.MainRef} {
		select {
		case c := <-w.Changes:
			if c.Ref != ref {
				t.Errorf("told of %s, not of %s", c.Ref, ref)
			}
		default:
			t.Errorf("not told of %s", ref)
		}
	}
}
