package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/agent/memory"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/internal/longtest"
	"cairn/internal/paths"
	"cairn/sync/eventlog"
)

// busy saves into a home until the disk fails, and returns what was acknowledged.
func busy(fsys disk.FS, dir string, options ...eventlog.Option) (acked []event.ID, err error) {
	opt := victimOptions(dir, fsys, func(event.Event) error { return nil })
	s, err := memory.Open(opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	log, err := eventlog.Open(fsys, opt.Home.Space("personal"), "personal", options...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := s.Attach(log); err != nil {
		return nil, err
	}
	save := func(p event.Payload) error {
		r, err := s.Remember(context.Background(), api.Draft{Payload: p})
		if err == nil {
			acked = append(acked, r.ID)
		}
		return err
	}
	for i := range 4 {
		if err := save(&event.Observe{Content: fmt.Sprintf("badger %d of %s", i, event.NewID(time.Now()))}); err != nil {
			return acked, err
		}
	}
	err = save(&event.Redact{Target: acked[1], Reason: "leaked"})
	return acked, err
}

// quietHome is a home with some notes that no process uses.
func quietHome(t *testing.T) (dir string, notes []event.ID) {
	t.Helper()
	h := paths.Home(t.TempDir())
	if err := os.MkdirAll(h.Spaces(), 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Create(disk.OS, h.Space("personal"), commitform.Space{Name: "personal", ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"})
	if err == nil {
		err = log.Close()
	}
	if err == nil {
		notes, err = busy(disk.OS, string(h))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(h), notes
}

// staged is a copy of a folder on a disk that can be made to fail.
func staged(t *testing.T, template string) (*faultfs.FS, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	fsys, err := faultfs.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return fsys, dir
}

// wreck is what a power cut leaves of a home, as old as the start of the system makes it.
func wreck(t *testing.T, fsys *faultfs.FS, s faultfs.Survival) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	err := fsys.Crash(dir, s)
	then := time.Now().AddDate(-10, 0, 0)
	err = errors.Join(err, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, then, then))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// missing says what is wrong with the home that a power cut left: what was acknowledged and is not in the log, and where
// log and index differ once they had time to become level.
func missing(t *testing.T, dir string, acked []event.ID) (faults []string) {
	t.Helper()
	opt := victimOptions(dir, disk.OS, func(event.Event) error { return nil })
	opt.Trouble = func(err error) { t.Logf("trouble: %v", err) }
	log, err := eventlog.Open(disk.OS, opt.Home.Space("personal"), "personal", eventlog.WithBoot("the next"))
	if err != nil {
		return []string{err.Error()}
	}
	h := &home{t: t, dir: opt.Home, logs: map[string]*eventlog.Log{"personal": log}, opt: opt}
	h.open()
	defer func() {
		if err := errors.Join(h.Service.Close(), log.Close()); err != nil {
			faults = append(faults, err.Error())
		}
	}()
	if _, err := h.Remember(t.Context(), note("badger after the power cut")); err != nil {
		return []string{err.Error()}
	}
	found := idsOf(h.settled(api.Query{Text: "badger", Limit: 1000}).Hits)
	notes := h.log(api.Query{Limit: 1000, Filter: api.Filter{Kind: event.KindObserve}})
	all := h.log(api.Query{Limit: 1000, All: true})
	for _, id := range acked {
		if !slices.Contains(all, id) {
			faults = append(faults, fmt.Sprintf("%s was acknowledged and is lost", id))
		}
	}
	slices.Sort(found)
	slices.Sort(notes)
	if !slices.Equal(found, notes) {
		faults = append(faults, fmt.Sprintf("%d notes are found, and the log has %d", len(found), len(notes)))
	}
	return faults
}

// The power goes at some moment while notes are saved, and takes with it what was not safe yet: every note that was
// acknowledged is there, the redacted one stays hidden if that was acknowledged, and the index becomes level by itself.
func TestAPowerCutLosesNoNoteAndTheIndexFollows(t *testing.T) {
	t.Parallel()
	template, before := quietHome(t)
	r := longtest.Rand(t)
	fsys, dir := staged(t, template)
	if _, err := busy(fsys, dir); err != nil {
		t.Fatal(err)
	}
	steps := fsys.Ops()
	for range longtest.Rounds(6, 300) {
		fsys, dir := staged(t, template)
		n := 1 + r.IntN(steps)
		fsys.DieAt(n)
		acked, err := busy(fsys, dir)
		if err == nil {
			continue // this time it took fewer steps
		}
		s := someSurvival(r, fsys.Unsynced())
		for _, fault := range missing(t, wreck(t, fsys, s), append(acked, before...)) {
			t.Errorf("power cut at operation %d of %d, %+v: %s", n, steps, s, fault)
		}
	}
}

func someSurvival(r *rand.Rand, names int) faultfs.Survival {
	return faultfs.Survival{Names: r.IntN(names + 1), Contents: faultfs.Contents(r.IntN(4))}
}

// With the wait for the disk left out the same look must find that something is lost.
func TestAHomeThatDoesNotWaitForTheDiskIsFound(t *testing.T) {
	t.Parallel()
	template, before := quietHome(t)
	fsys, dir := staged(t, template)
	acked, err := busy(fsys, dir, eventlog.WithDurability(eventlog.Process))
	if err != nil {
		t.Fatal(err)
	}
	faults := missing(t, wreck(t, fsys, faultfs.Survival{Contents: faultfs.Lost}), append(acked, before...))
	if len(faults) == 0 {
		t.Fatal("nothing is lost although nobody waited for the disk")
	}
	t.Logf("without waiting: %s", faults[0])
}
