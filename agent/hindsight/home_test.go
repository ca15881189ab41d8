package hindsight_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/agent/hindsight"
	"cairn/agent/hubstate"
	"cairn/agent/teampolicy"
	"cairn/internal/commitform"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/policy/versions"
	"cairn/sync/eventlog"
)

const space = "team"

// quick is the disk without its waits: what a power cut leaves is not asked here.
var quick disk.FS = &fleettest.Disk{FS: disk.OS}

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hubID  = event.ID("01kk0000000000000000000000")
	hubKey = device.FromPrivate(eventtest.Key("hub"))
)

// tester is what a test and a drawn example have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A chain is the versions of a hub's policy, with their files.
type chain struct {
	list  []versions.Version
	files map[versions.Hash][]byte
}

// push makes a file in force at a moment.
func (c *chain) push(since time.Time, file string) {
	if c.files == nil {
		c.files = map[versions.Hash][]byte{}
	}
	file = "version: 1\nteam: acme\nadmins: [ana]\n" + file
	var last *versions.Version
	if len(c.list) > 0 {
		last = &c.list[len(c.list)-1]
	}
	p := versions.Propose(hubID, last, []byte(file), "acme", []string{"ana"}, 1)
	p.By, p.At = "ana", event.NewTime(noon.Add(-24*time.Hour))
	v := versions.Version{Proposal: p, Approved: []versions.Approval{p.Approve("ana", device.FromPrivate(eventtest.Key("ana")))}}
	c.list = append(c.list, v.SealedAt(since, last, hubKey))
	c.files[p.File] = []byte(file)
}

// pattern refuses tickets with that prefix; more are further lines of it.
func pattern(prefix string, more ...string) string {
	lines := append([]string{
		"    - id: " + strings.ToLower(prefix) + "-ticket", "match: '" + prefix + "-[0-9]{6}'", "contains: " + prefix + "-", "like: '" + prefix + "-[0-9]{6}'",
	}, more...)
	return strings.Join(lines, "\n      ") + "\n"
}

// shown is the hub's answer to a machine that hears of the first n versions.
func (c *chain) hub(n int) (teampolicy.Hub, hubwire.PolicyMark) {
	newest := c.list[n-1]
	mark := hubwire.PolicyMark{Number: newest.Number, Hash: newest.Hash().String()}
	return teampolicy.Hub{
		Hub: hubstate.Hub{ID: hubID, Fingerprint: hubwire.Fingerprint(hubKey.Public())},
		Since: func(_ context.Context, number int) (hubwire.PolicyAnswer, error) {
			a := hubwire.PolicyAnswer{Hub: hubID, Key: hubKey.Public(), Newest: mark, File: c.files[newest.File]}
			for _, v := range c.list[:n] {
				if v.Number > number {
					a.Versions = append(a.Versions, versions.Encode(v))
				}
			}
			return a, nil
		},
		File: func(_ context.Context, number int) ([]byte, error) {
			return c.files[c.list[number-versions.First].File], nil
		},
	}, mark
}

// A machine holds a log, what it has heard of the policy, and what it withholds.
type machine struct {
	t     tester
	dir   string
	log   *eventlog.Log
	team  *teampolicy.Keeper
	looks *hindsight.Keeper
	clock time.Time

	withheld map[event.ID]bool
	settled  int // how often something was
	looked   int // events that were looked at again
	die      int // at which settlement the machine dies; 0 for never
}

func newMachine(t tester, dir string) *machine {
	t.Helper()
	m := &machine{t: t, dir: dir, clock: noon, withheld: map[event.ID]bool{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	m.log, err = eventlog.Create(quick, filepath.Join(dir, space+".git"), commitform.Space{Name: space, ID: "01jdyrnk3s8q4b7ymx2v5c6d9e"}, eventlog.WithDurability(eventlog.Process))
	if err != nil {
		t.Fatal(err)
	}
	m.restart()
	return m
}

// restart is the machine with what its disk holds.
func (m *machine) restart() {
	m.team = teampolicy.Open(quick, filepath.Join(m.dir, "policy.json"), func() time.Time { return m.clock })
	m.looks = hindsight.New(hindsight.Options{
		FS: quick, Path: filepath.Join(m.dir, "judged.json"), Program: "test", Step: 2,
		Judge:    func(string) hindsight.Judge { return m.judge() },
		Spaces:   func() map[string]*eventlog.Log { return map[string]*eventlog.Log{space: m.log} },
		Withheld: func(_ string, id event.ID) bool { m.looked++; return m.withheld[id] },
		Settle:   m.settle, Log: slog.New(slog.DiscardHandler),
	})
}

var errDead = errors.New("the machine has died")

func (m *machine) settle(_ context.Context, _ string, hide []hindsight.Unfit, back []event.ID) error {
	if m.settled++; m.settled == m.die {
		return errDead
	}
	for _, u := range hide {
		m.withheld[u.Event] = true
	}
	for _, id := range back {
		delete(m.withheld, id)
	}
	return nil
}

func (m *machine) judge() hindsight.Judge { return hindsight.NewJudge(space, m.team.Hindsight(), nil) }

// take takes in an event as one that arrives.
func (m *machine) take(e event.Event) {
	m.t.Helper()
	m.admit(e)
	m.add(e)
}

func (m *machine) admit(e event.Event) {
	if len(m.judge().Event(e)) > 0 {
		m.withheld[e.ID] = true
	}
}

func (m *machine) add(e event.Event) {
	m.t.Helper()
	_, err := m.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{e}, nil })
	if err != nil {
		m.t.Fatal(err)
	}
}

// hear brings the first n versions of a chain.
func (m *machine) hear(c *chain, n int) {
	m.t.Helper()
	hub, mark := c.hub(n)
	if err := m.team.Follow(context.Background(), hub, mark); err != nil {
		m.t.Fatal(err)
	}
	if s := m.team.State(); s.Number < mark.Number || s.Trouble != nil {
		m.t.Fatalf("%+v is in force, want %d", s, mark.Number)
	}
}

// look looks back; a machine that dies on the way starts again.
func (m *machine) look() {
	m.t.Helper()
	err := m.looks.Look(context.Background())
	if errors.Is(err, errDead) {
		m.restart()
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// shown lists the events that the machine shows, by id.
func (m *machine) shown() []event.ID {
	m.t.Helper()
	head, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	ids, err := m.log.AddedIDs(context.Background(), [20]byte{}, head.Tree)
	if err != nil {
		m.t.Fatal(err)
	}
	return slices.DeleteFunc(ids, func(id event.ID) bool { return m.withheld[id] })
}

func (m *machine) close() {
	if err := m.log.Close(); err != nil {
		m.t.Fatal(err)
	}
}

// at is a signed event of a moment.
func at(when time.Time, p event.Payload) event.Event {
	e := eventtest.Of(p)
	e.Space, e.Classification, e.ID, e.Observed = space, event.Public, event.NewID(when), event.NewTime(when)
	return eventtest.Signed(e, "laptop")
}

func note(when time.Time, text string) event.Event {
	return at(when, &event.Observe{Summary: "a note", Content: text})
}

func lesson(when time.Time, text string) event.Event {
	return at(when, &event.Lesson{Category: "work", Text: text, Transition: event.LessonAdd})
}

func shows(t *testing.T, m *machine, want ...event.Event) {
	t.Helper()
	var ids []event.ID
	for _, e := range want {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	if got := m.shown(); !slices.Equal(got, ids) {
		t.Errorf("it shows %v, want %v", got, ids)
	}
}

func kinds(list ...string) string { return fmt.Sprintf("kinds: [%s]\n", strings.Join(list, ", ")) }
