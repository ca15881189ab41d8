package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
)

// quick is the real file system without the waiting.
var quick = disktest.Unsynced(disk.OS)

// small keeps the write-ahead logs of these tests short: they are copied at every power cut.
var small = eventlog.WithSegments(64 << 10)

// A machine has a log on a disk that forgets, until its power is cut.
type machine struct {
	t       *testing.T
	disk    *faultfs.FS
	dir     string
	logs    []*eventlog.Log // of several processes
	options []eventlog.Option
	tried   []event.ID // in order
	acked   []event.ID
}

func newMachine(t *testing.T, processes int, options ...eventlog.Option) *machine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "personal.git")
	l, err := eventlog.Create(quick, dir, personal)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, options: append(options, small)}
	if m.disk, err = faultfs.New(dir); err != nil {
		t.Fatal(err)
	}
	for range processes {
		l, err := eventlog.Open(m.disk, dir, "personal", m.options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() }) // fails like everything else when the power is gone
		m.logs = append(m.logs, l)
	}
	return m
}

// append saves events as one batch in one of the processes.
func (m *machine) append(process int, events ...event.Event) error {
	for _, e := range events {
		m.tried = append(m.tried, e.ID)
	}
	done, err := m.logs[process].Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return events, nil })
	for _, a := range done {
		m.acked = append(m.acked, a.Event.ID)
	}
	return err
}

// crash cuts the power and returns the folder that is found afterwards.
func (m *machine) crash(s faultfs.Survival) string {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), "after.git")
	if err := m.disk.Crash(dir, s); err != nil {
		m.t.Fatal(err)
	}
	age(m.t, dir)
	return dir
}

// age makes ref locks look as old as they are when the system has been started again.
func age(t testing.TB, dir string) {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(dir, "refs", "*", "*.lock"))
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().AddDate(-5, 0, 0)
	for _, path := range locks {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
}

// survivals chooses some of the ways in which unsynced changes may survive, other ones for each seed.
func (m *machine) survivals(seed int) []faultfs.Survival {
	all := []faultfs.Contents{faultfs.Lost, faultfs.Halved, faultfs.Zeroed, faultfs.Ended, faultfs.Kept}
	names := m.disk.Unsynced()
	return []faultfs.Survival{
		{Names: names, Contents: all[seed%4]},
		{Names: seed % (names + 1), Contents: all[seed/2%5]},
	}
}

// A story is told on a machine until an operation fails.
type story func(*machine) error

// A teller plays a story once for each of its operations, cutting the power there.
type teller struct {
	processes int
	options   []eventlog.Option
	// before happens on a whole disk.
	before story
	story  story
	// every saves time: only each so many operations, unless there is time for a long test.
	every int
}

func (tl teller) step() int {
	if tl.every == 0 || longtest.Long() {
		return 1
	}
	return tl.every
}

// tell returns what is wrong after the power cuts.
func (tl teller) tell(t *testing.T) (wrong []error) {
	t.Helper()
	heads := map[string]string{}
	for n, done := 1, false; !done; n += tl.step() {
		m := newMachine(t, max(1, tl.processes), tl.options...)
		if tl.before != nil {
			if err := tl.before(m); err != nil {
				t.Fatal(err)
			}
		}
		m.disk.DieAt(n)
		err := tl.story(m)
		done = err == nil
		if err != nil && !errors.Is(err, faultfs.ErrInjected) {
			wrong = append(wrong, fmt.Errorf("operation %d: %w", n, err))
		}
		for i, s := range m.survivals(n) {
			found, err := m.find(m.crash(s), i == 0 && n%4 == 1)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("power cut at operation %d, %+v: %w", n, s, err))
				continue
			}
			// The same events in the same order lead to the same head.
			if was, ok := heads[found.events]; ok && was != found.head {
				wrong = append(wrong, fmt.Errorf("power cut at operation %d, %+v: another head for the same events", n, s))
			}
			heads[found.events] = found.head
		}
		if n > 5000 {
			t.Fatal("the story takes more than 5000 operations")
		}
	}
	if len(heads) < 2 {
		t.Error("every power cut left the same: the story shows nothing")
	}
	return wrong
}

type found struct{ events, head string }

// find opens what a power cut has left, as the machine does when it is started again, and compares it with what it knows.
func (m *machine) find(dir string, fsck bool) (found, error) {
	l, err := eventlog.Open(quick, dir, "personal", eventlog.WithBoot("the next"), small)
	if err != nil {
		return found{}, err
	}
	defer l.Close()
	head, err := l.Head()
	if err != nil {
		return found{}, err
	}
	have, err := idsOf(l)
	if err != nil {
		return found{}, err
	}
	for _, id := range m.acked {
		if !slices.Contains(have, id) {
			return found{}, fmt.Errorf("acknowledged event %s is lost", id)
		}
	}
	for _, id := range have {
		if !slices.Contains(m.tried, id) {
			return found{}, fmt.Errorf("nobody has saved event %s", id)
		}
	}
	if fsck {
		if err := gitFsck(m.t, dir); err != nil {
			return found{}, err
		}
	}
	return found{fmt.Sprint(have), head.Commit.String()}, goesOn(l, have)
}

// goesOn appends, and looks whether everything is there then.
func goesOn(l *eventlog.Log, have []event.ID) error {
	next := signed("the next")
	_, err := l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{next}, nil })
	if err != nil {
		return fmt.Errorf("the next append: %w", err)
	}
	now, err := idsOf(l)
	if err == nil && len(now) != len(have)+1 {
		err = fmt.Errorf("%d events before and %d after the next append", len(have), len(now))
	}
	return err
}

// idsOf reads all events of the log and lists them.
func idsOf(l *eventlog.Log) ([]event.ID, error) {
	head, err := l.Head()
	if err != nil {
		return nil, err
	}
	var all []event.ID
	err = l.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		all = append(all, s.ID)
		return s.Err
	})
	return all, err
}

func mustBeRight(t *testing.T, wrong []error) {
	t.Helper()
	for i, err := range wrong {
		t.Error(err)
		if i > 10 {
			t.Fatalf("and %d more", len(wrong)-i)
		}
	}
}

func notes(n int) []event.Event {
	var all []event.Event
	for i := range n {
		all = append(all, signed(fmt.Sprint("note ", i)))
	}
	return all
}

// appendEach appends events one after the other, each in the next process.
func appendEach(events ...event.Event) story {
	return func(m *machine) error {
		for i, e := range events {
			if err := m.append(i%len(m.logs), e); err != nil {
				return err
			}
		}
		return nil
	}
}

func inTurn(stories ...story) story {
	return func(m *machine) error {
		for _, s := range stories {
			if err := s(m); err != nil {
				return err
			}
		}
		return nil
	}
}

func settle(m *machine) error { return m.logs[0].Settle(context.Background()) }

func TestPowerCutsDuringAppends(t *testing.T) {
	t.Parallel()
	mustBeRight(t, teller{story: appendEach(notes(2)...), every: 5}.tell(t))
}

// A writer who does not wait for the disk is caught by the same test.
func TestPowerCutsDuringAppendsThatDoNotWait(t *testing.T) {
	t.Parallel()
	all := notes(3)
	hasty := teller{options: []eventlog.Option{eventlog.WithDurability(eventlog.Process)}, story: appendEach(all...), every: 7}
	if len(hasty.tell(t)) == 0 {
		t.Error("events that nobody waited for survive every power cut")
	}
}

func TestPowerCutsDuringGroupAppends(t *testing.T) {
	t.Parallel()
	a, b := notes(5), notes(4)
	mustBeRight(t, teller{every: 7, story: func(m *machine) error {
		if err := m.append(0, a...); err != nil {
			return err
		}
		return m.append(0, b...)
	}}.tell(t))
}

func TestPowerCutsWhileTwoProcessesAppendInTurn(t *testing.T) {
	t.Parallel()
	mustBeRight(t, teller{processes: 2, story: appendEach(notes(3)...), every: 11}.tell(t))
}

func TestPowerCutsDuringSettling(t *testing.T) {
	t.Parallel()
	all := notes(5)
	mustBeRight(t, teller{
		every:  17,
		before: appendEach(all[:3]...),
		story:  inTurn(settle, appendEach(all[3:4]...), settle, appendEach(all[4:]...)),
	}.tell(t))
}

// Appends go on while another process settles.
func TestPowerCutsDuringAppendsBesideSettling(t *testing.T) {
	t.Parallel()
	all := notes(8)
	mustBeRight(t, teller{processes: 2, every: 37, before: appendEach(all[:2]...), story: func(m *machine) error {
		settled := make(chan error)
		go func() { settled <- m.logs[1].Settle(context.Background()) }()
		var err error
		for _, e := range all[2:] {
			if err = m.append(0, e); err != nil {
				break
			}
		}
		return errors.Join(err, <-settled)
	}}.tell(t))
}

// Whatever is not an append is durable in the repository itself, on top of what was appended.
func TestPowerCutsDuringUpdates(t *testing.T) {
	t.Parallel()
	all := notes(4)
	mustBeRight(t, teller{every: 13, before: appendEach(all[:2]...), story: inTurn(appendEach(all[2]), update(all[3]))}.tell(t))
}

// update adds an event by way of Replay, as a merge would.
func update(e event.Event) story {
	return func(m *machine) error {
		l := m.logs[0]
		head, err := l.Head()
		if err != nil {
			return err
		}
		b, err := event.Encode(e)
		if err != nil {
			return err
		}
		m.tried = append(m.tried, e.ID)
		_, err = l.Replay(context.Background(), head.Commit, head.Commit, each([]eventlog.Stored{{ID: e.ID, Bytes: b, Event: e}}))
		if err == nil {
			m.acked = append(m.acked, e.ID)
		}
		return err
	}
}

// The power may be cut again during the recovery from a power cut.
func TestPowerCutsDuringRecovery(t *testing.T) {
	t.Parallel()
	for i, contents := range []faultfs.Contents{faultfs.Lost, faultfs.Zeroed, faultfs.Halved, faultfs.Ended} {
		first := newMachine(t, 1)
		if err := inTurn(appendEach(notes(1)...), settle, appendEach(notes(3)...))(first); err != nil {
			t.Fatal(err)
		}
		left := first.crash(faultfs.Survival{Names: first.disk.Unsynced(), Contents: contents})
		for n, done := 1+i, false; !done; n += (teller{every: 29}).step() {
			again := &machine{t: t, dir: filepath.Join(t.TempDir(), "again.git"), tried: first.tried, acked: first.acked}
			if err := os.CopyFS(again.dir, os.DirFS(left)); err != nil {
				t.Fatal(err)
			}
			age(t, again.dir)
			var err error
			if again.disk, err = faultfs.New(again.dir); err != nil {
				t.Fatal(err)
			}
			again.disk.DieAt(n)
			l, err := eventlog.Open(again.disk, again.dir, "personal", eventlog.WithBoot("the next"), small)
			if done = err == nil; done {
				l.Close()
			}
			for _, s := range again.survivals(n) {
				if _, err := again.find(again.crash(s), n%20 < 2); err != nil {
					t.Errorf("%v, power cut at operation %d of the recovery, %+v: %v", contents, n, s, err)
				}
			}
		}
	}
}
