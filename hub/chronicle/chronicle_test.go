package chronicle_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/hub/audit"
	"cairn/hub/chronicle"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
)

var (
	start = time.Date(2026, 3, 31, 22, 30, 0, 0, time.UTC)
	host  = device.FromPrivate(eventtest.Key("hub"))
)

// An office is a hub's folder with a log, and a clock.
type office struct {
	t   *testing.T
	dir string
	now time.Time
	log *audit.Log
	bad string // what must not be seen
}

func opened(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir(), now: start}
	var err error
	if o.log, err = audit.Open(disk.OS, filepath.Join(o.dir, "audit"), func() time.Time { return o.now }); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *office) state() string { return filepath.Join(o.dir, "state.json") }

func (o *office) record(r audit.Record) {
	o.t.Helper()
	if err := o.log.Append(r); err != nil {
		o.t.Fatal(err)
	}
}

// on is a chronicle on a disk; the caller closes the spaces.
func (o *office) on(fsys disk.FS) (*chronicle.Chronicle, *repository.Set) {
	quiet := slog.New(slog.DiscardHandler)
	spaces := repository.NewSet(fsys, o.dir, repository.Limits{}, quiet)
	return chronicle.New(chronicle.Options{
		Log: o.log, Spaces: spaces, Key: host, FS: fsys, Path: o.state(), Trace: quiet,
		Judge: func(e event.Event) (int, bool) {
			return 7, o.bad == "" || !strings.Contains(e.Payload.Body(), o.bad)
		},
		Now: func() time.Time { return o.now },
	}), spaces
}

// catch writes what waits and returns every event that is there.
func (o *office) catch() []event.Event {
	o.t.Helper()
	c, spaces := o.on(disk.OS)
	defer func() {
		if err := spaces.Close(); err != nil {
			o.t.Error(err)
		}
	}()
	if err := c.Catch(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	if s := c.State(o.t.Context()); s.Waiting != 0 || s.Problem != "" {
		o.t.Errorf("after all was written: %+v", s)
	}
	space, err := spaces.Audit(o.now)
	if err != nil {
		o.t.Fatal(err)
	}
	var all []event.Event
	err = space.Events(o.t.Context(), func(b []byte) error {
		e, err := event.Decode(b)
		all = append(all, e)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return all
}

func bodies(list []event.Event) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Payload.Title()+" "+e.Payload.Body())
	}
	return strings.Join(all, "\n")
}

func TestARecordBecomesASignedEvent(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := eventtest.Note("x").ID
	o.record(audit.Record{
		Person: "ana", Device: eventtest.Device("laptop"), Addr: "192.0.2.1:99", Action: "push", Space: "team", Ref: "refs/for/main",
		Verdict: audit.Refused, Rules: []string{"some-rule"}, Events: []event.ID{id}, Commit: strings.Repeat("c", 40), Reason: "words of somebody",
	})
	list := o.catch()
	if len(list) != 1 {
		t.Fatalf("%d events", len(list))
	}
	e := list[0]
	if err := errors.Join(e.Validate(), e.Verify()); err != nil || e.Actor.Device != host.ID() || e.Space != "audit" || e.Kind != event.KindAudit || e.Policy != 7 {
		t.Errorf("%+v, %v", e, err)
	}
	if p := e.Payload.(*event.Audit); p.What != "push" || p.Target != string(id) {
		t.Errorf("%+v", p)
	}
	for _, want := range []string{`"ana"`, string(eventtest.Device("laptop")), `"team"`, `"refused"`, `"some-rule"`, string(id)} {
		if !strings.Contains(e.Payload.Body(), want) {
			t.Errorf("does not say %s: %s", want, e.Payload.Body())
		}
	}
	for _, no := range []string{"192.0.2.1", "words of", "cccc"} {
		if strings.Contains(e.Payload.Body(), no) {
			t.Errorf("says %s: %s", no, e.Payload.Body())
		}
	}
	if again := o.catch(); len(again) != 1 {
		t.Errorf("nothing new makes %d events", len(again))
	}
}

// The names in a record come from whoever connects.
func TestWhatLooksLikeASecretIsNotWritten(t *testing.T) {
	t.Parallel()
	o := opened(t)
	o.bad = "very-odd-name"
	o.record(audit.Record{Person: "ana", Action: "push", Space: o.bad, Verdict: audit.Refused})
	list := o.catch()
	if said := bodies(list); len(list) != 1 || strings.Contains(said, o.bad) || !strings.Contains(said, `"unnamed":true`) || !strings.Contains(said, "refused") {
		t.Errorf("%d events: %s", len(list), said)
	}
}

func TestAFloodBecomesACount(t *testing.T) {
	t.Parallel()
	o := opened(t)
	refused := audit.Record{Person: "mal", Action: "push", Verdict: audit.Refused, Rules: []string{"some-rule"}}
	for range 500 {
		o.record(refused)
	}
	o.record(audit.Record{Person: "mal", Action: "push", Verdict: audit.Taken})
	o.record(audit.Record{Person: "ana", Action: "grant", Target: "bo", Verdict: audit.Done})
	if n := len(o.catch()); n != 60+2 {
		t.Errorf("%d events in the hour of a flood", n)
	}
	o.now = o.now.Add(31 * time.Minute) // the next month, and within the grace of the hour
	o.record(refused)
	list := o.catch()
	if said := bodies(list); len(list) != 60+2+2 || strings.Count(said, `"count":440`) != 1 || !strings.Contains(said, `"rule":"some-rule"`) {
		t.Errorf("%d events after it: %s", len(list), said)
	}
	for range 100 {
		o.record(refused)
	}
	o.catch()
	o.now = o.now.Add(2 * time.Hour) // nothing is recorded any more
	if said := bodies(o.catch()); strings.Count(said, `"count":41`) != 1 {
		t.Errorf("the last count is not written: %s", said)
	}
	if err := os.Remove(o.state()); err != nil {
		t.Fatal(err)
	}
	before := len(o.catch())
	if again := o.catch(); len(again) != before || before != 60+2+2+59+1 {
		t.Errorf("without knowing how far it was: %d events, then %d", before, len(again))
	}
}

// Wherever the writer is killed, everything is there once in the end.
func TestAKilledWriterWritesNothingTwice(t *testing.T) {
	t.Parallel()
	first := opened(t)
	for i := range 70 {
		first.record(audit.Record{Person: "ana", Action: "push", Target: fmt.Sprint(i), Verdict: audit.Refused})
	}
	killed := 0
	for n := 1; ; n += longtest.Rounds(n/2+1, 1) {
		o := opened(t)
		if err := os.CopyFS(filepath.Join(o.dir, "audit"), os.DirFS(filepath.Join(first.dir, "audit"))); err != nil {
			t.Fatal(err)
		}
		fsys, err := faultfs.New(o.dir)
		if err != nil {
			t.Fatal(err)
		}
		fsys.DieAt(n)
		c, spaces := o.on(fsys)
		err = c.Catch(t.Context())
		o.now = o.now.Add(2 * time.Hour)
		if err == nil {
			err = c.Catch(t.Context())
		}
		done := err == nil
		_ = spaces.Close() // its disk may be dead
		if !done {
			killed++
		}
		list := o.catch()
		if said := bodies(list); len(list) != 61 || strings.Count(said, `"count":10,`) != 1 {
			t.Fatalf("killed at operation %d: %d events\n%s", n, len(list), said)
		}
		if done {
			break
		}
	}
	if killed < 5 {
		t.Errorf("it was killed only %d times", killed)
	}
}

// A space of that name which somebody else wrote to stays as it is.
func TestAnothersSpaceIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	o := opened(t)
	dir := filepath.Join(o.dir, "spaces")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := eventlog.Create(disk.OS, filepath.Join(dir, "audit.git"), commitform.Space{Name: "audit", ID: event.NewID(start)})
	if err != nil {
		t.Fatal(err)
	}
	e := eventtest.Note("ours")
	e.Space, e.Classification = "audit", event.Public
	_, err = l.Append(t.Context(), func(eventlog.Head) ([]event.Event, error) {
		return []event.Event{eventtest.Signed(e, "laptop")}, nil
	})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	o.record(audit.Record{Person: "ana", Action: "push", Verdict: audit.Taken})
	c, spaces := o.on(disk.OS)
	defer spaces.Close()
	if err := c.Catch(t.Context()); err == nil {
		t.Error("it is written to")
	}
	if s := c.State(t.Context()); s.Waiting != 1 || s.Since == nil || !strings.Contains(s.Problem, "before") {
		t.Errorf("%+v", s)
	}
	space, err := spaces.Audit(start)
	if err != nil {
		t.Fatal(err)
	}
	if _, n, err := space.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("%d events, %v", n, err)
	}
}

// A record of its own month, lines that were cut short and files that an
// operator took away are passed by.
func TestTheLogIsFollowedAcrossMonths(t *testing.T) {
	t.Parallel()
	o := opened(t)
	o.record(audit.Record{Person: "ana", Action: "one", Verdict: audit.Done})
	o.catch()
	if err := os.Remove(filepath.Join(o.dir, "audit", "2026-03.jsonl")); err != nil {
		t.Fatal(err)
	}
	o.now = o.now.Add(48 * time.Hour)
	o.record(audit.Record{Person: "ana", Action: "two", Verdict: audit.Done})
	f, err := os.OpenFile(filepath.Join(o.dir, "audit", "2026-04.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"action":"cut sho`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	o.catch()
	o.now = o.now.Add(time.Second)
	o.record(audit.Record{Person: "ana", Action: "three", Verdict: audit.Done})
	var titles []string
	for _, e := range o.catch() {
		titles = append(titles, e.Payload.Title())
	}
	if !slices.Equal(titles, []string{"one", "two", "three"}) {
		t.Errorf("%q", titles)
	}
}

// Whoever only asks for the state makes no space, also not at a hub that has
// never written to one.
func TestALookMakesNoSpace(t *testing.T) {
	t.Parallel()
	o := opened(t)
	o.record(audit.Record{Person: "ana", Action: "push", Verdict: audit.Taken})
	c, spaces := o.on(disk.OS)
	defer spaces.Close()
	if s := c.State(t.Context()); s.Waiting != 1 || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	if names, err := spaces.Names(); err != nil || len(names) > 0 {
		t.Errorf("there is now %v, %v", names, err)
	}
}

// A readCounter counts how often one file is opened.
type readCounter struct {
	disk.FS
	name string
	n    int
}

func (c *readCounter) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if name == c.name && flag == os.O_RDONLY {
		c.n++
	}
	return c.FS.OpenFile(name, flag, perm)
}

// The writer reads once how far it has come; after trouble it reads again.
func TestHowFarTheWriterIsIsReadOnce(t *testing.T) {
	t.Parallel()
	o := opened(t)
	counter := &readCounter{FS: disk.OS, name: o.state()}
	c, spaces := o.on(counter)
	defer spaces.Close()
	for i := range 3 {
		o.record(audit.Record{Person: "ana", Action: fmt.Sprint(i), Verdict: audit.Done})
		for range 2 {
			if err := c.Catch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if counter.n != 1 {
		t.Errorf("read %d times", counter.n)
	}
	o.record(audit.Record{Person: "ana", Action: "last", Verdict: audit.Done})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Catch(gone); err == nil {
		t.Fatal("nothing went wrong")
	}
	if list := o.catch(); len(list) != 4 {
		t.Errorf("%d events", len(list))
	}
	if err := c.Catch(t.Context()); err != nil || counter.n != 2 {
		t.Errorf("read %d times, %v", counter.n, err)
	}
}
