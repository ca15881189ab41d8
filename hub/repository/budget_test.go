package repository_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/countfs"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
)

// A counted hub and its machines, whose every access to the disk is counted.
type countedHub struct {
	*hub
	disk *countfs.FS
	ana  *countedMachine // pushes
	ben  *countedMachine // fetches
}

type countedMachine struct {
	*machine
	disk *countfs.FS
}

// newCountedHub is a hub whose space has n events: the last 300 of them in the
// hours of the newest month, whatever n is, and the others in the month before.
// So the folders on the way to a new event are the same however many there are.
func newCountedHub(t *testing.T, n int) *countedHub {
	t.Helper()
	h := &countedHub{
		hub:  &hub{t: t, dir: t.TempDir(), members: &devices.Members{}},
		disk: countfs.New(disk.OS),
	}
	h.set = repository.NewSet(h.disk, h.dir, repository.Limits{Rest: time.Hour}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := h.set.Close(); err != nil {
			t.Error(err)
		}
	})
	fill(t, h.repo(), n)
	var err error
	if h.team, err = h.set.Shared("team"); err != nil {
		t.Fatal(err)
	}
	h.enrol("ana", devices.Write, "laptop")
	h.enrol("ben", devices.Write, "desktop")
	h.ana, h.ben = h.machine("laptop"), h.machine("desktop")
	return h
}

// fill makes the repository of a space with n events, in one batch.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	if err := disk.OS.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: "team", ID: event.NewID(newest.AddDate(0, -2, 0))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return series(n), nil })
	if err := firstOf(err, log.Close()); err != nil {
		t.Fatal(err)
	}
}

var newest = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const recent = 300

func series(n int) []event.Event {
	var all []event.Event
	add := func(n int, from time.Time, each time.Duration) {
		for i := range n {
			e := eventtest.Note(fmt.Sprintf("event %d of some length, as notes have it", i))
			e.Space, e.Classification = "team", event.Public
			e.ID = event.NewID(from.Add(time.Duration(i) * each))
			all = append(all, eventtest.Signed(e, "laptop"))
		}
	}
	older := n - recent
	add(older, newest.AddDate(0, -1, 0), 28*24*time.Hour/time.Duration(older))
	add(recent, newest, 2*time.Minute)
	return all
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// machine is a copy of the hub's repository.
func (h *countedHub) machine(name string) *countedMachine {
	h.t.Helper()
	m := &countedMachine{disk: countfs.New(disk.OS)}
	m.machine = h.hub.copy(m.disk, name)
	return m
}

// next is a new event of the machine, a minute after the one before.
func (m *countedMachine) next(i int) {
	e := m.event("one more")
	e.ID = event.NewID(newest.Add(recent*2*time.Minute + time.Duration(i)*time.Minute))
	m.append(eventtest.Signed(e, m.name))
}

// costs is what some rounds cost each party: one machine appends an event and
// pushes it, the other fetches it.
type costs struct{ append, push, hubPush, fetch, hubFetch countfs.Count }

func (h *countedHub) rounds(from, n int) (c costs) {
	h.t.Helper()
	for i := from; i < from+n; i++ {
		c.append = add(c.append, spent(h.ana.disk, func() { h.ana.next(i) }))
		c.hubPush = add(c.hubPush, spent(h.disk, func() {
			c.push = add(c.push, spent(h.ana.disk, func() { h.ana.push(event.MainRef).mustBeTaken(h.t) }))
		}))
		c.hubFetch = add(c.hubFetch, spent(h.disk, func() {
			c.fetch = add(c.fetch, spent(h.ben.disk, h.ben.pull))
		}))
	}
	if h.ben.tip() != h.head() || h.ana.tip() != h.head() {
		h.t.Fatal("the machines are not level with the hub")
	}
	return c
}

func spent(f *countfs.FS, do func()) countfs.Count {
	before := f.Count()
	do()
	return f.Count().Sub(before)
}

func add(a, b countfs.Count) countfs.Count { return a.Sub(countfs.Count{}.Sub(b)) }

// lookups is how many ids are looked for, more or less, to append, push or
// fetch one event. Each may cost a read of its own in a large index, of window
// bytes, while one of up to a megabyte is kept in memory.
const (
	lookups = 10
	window  = 2560
)

// within says what some rounds cost more with many events than with few, other
// than by the size of the index. A quarter more is no growth: ids are random,
// and so is whether a search needs one look or two.
func within(rounds int64, few, many countfs.Count) error {
	for _, c := range []struct {
		what             string
		few, extra, many int64
	}{
		{"names looked up", few.Looks, 0, many.Looks},
		{"reads", few.Reads, lookups, many.Reads},
		{"bytes read", few.Read, lookups * window, many.Read},
		{"writes", few.Writes, 0, many.Writes},
		{"bytes written", few.Written, 0, many.Written},
		{"names changed", few.Changes, 0, many.Changes},
		{"syncs", few.Syncs, 0, many.Syncs},
	} {
		if c.many > c.few+c.few/4+rounds*c.extra+1 {
			return fmt.Errorf("%s: %d with few events, %d with many", c.what, c.few, c.many)
		}
	}
	return nil
}

// What it takes to append, push and fetch one event must not depend on how
// many there are.
func TestOneEventCostsTheSameHoweverManyThereAre(t *testing.T) {
	const rounds = 8
	n := 6_000
	if os.Getenv("CAIRN_LONG_TESTS") != "" {
		n = 20_000
	}
	few, many := newCountedHub(t, 1_000), newCountedHub(t, n)
	for _, h := range []*countedHub{few, many} {
		h.rounds(0, 3) // what is read once and kept
		h.team.Rest()  // opening it began to tidy it up
	}
	a, b := few.rounds(3, rounds), many.rounds(3, rounds)
	for _, c := range []struct {
		what      string
		few, many countfs.Count
	}{
		{"appending", a.append, b.append}, {"pushing", a.push, b.push}, {"taking a push", a.hubPush, b.hubPush},
		{"fetching", a.fetch, b.fetch}, {"serving a fetch", a.hubFetch, b.hubFetch},
	} {
		t.Logf("%-16s %+v", c.what, c.many)
		if err := within(rounds, c.few, c.many); err != nil {
			t.Errorf("%s grows with the history: %v", c.what, err)
		}
	}
	// The measure itself: looking for the oldest event reads the whole history.
	look := func(h *countedHub) countfs.Count {
		return spent(h.ana.disk, func() { h.ana.findOldest() })
	}
	if within(1, look(few), look(many)) == nil {
		t.Error("a walk through the whole history went unnoticed")
	}
}

func (m *countedMachine) findOldest() {
	m.t.Helper()
	head, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	var oldest event.ID
	err = m.log.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		if oldest == "" {
			oldest = s.ID
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.log.CommitsOf(context.Background(), head.Commit, []event.ID{oldest}); err != nil {
		m.t.Fatal(err)
	}
}
