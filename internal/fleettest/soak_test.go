package fleettest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/longtest"
)

// words are what notes are about, and what is asked for in the end.
var words = []string{"badger", "heron", "otter", "marten", "lynx", "ibex", "crane", "viper"}

// A soak is a fleet that lives through bad times: lines are cut, agents stop or are killed, the hub goes away, a disk is
// full. Its choices come from one seed.
type soak struct {
	t        *testing.T
	f        *fleettest.Fleet
	r        *rand.Rand
	machines []*fleettest.Machine
	owners   []string
	hub      bool // is up
	notes    int  // were tried

	mu    sync.Mutex
	acked map[string][]fleettest.Saved // by space and, for the personal ones, by person
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	s := &soak{t: t, f: fleettest.Start(t, hub.Options{}), r: longtest.Rand(t), hub: true, acked: map[string][]fleettest.Saved{}}
	for i, person := range []string{"ana", "ana", "ana", "bo", "bo"} {
		s.machines = append(s.machines, s.f.Wired(fmt.Sprintf("machine-%d", i), person))
		s.owners = append(s.owners, person)
	}
	return s
}

// round is one disturbance, while every machine that is up saves a few events.
func (s *soak) round(n int) {
	var work sync.WaitGroup
	for i, m := range s.machines {
		if m.Agent == nil {
			continue
		}
		a, drafts := m.Agent, s.drafts(i)
		work.Go(func() {
			for _, d := range drafts {
				if r, err := a.Remember(context.Background(), d); err == nil {
					s.acknowledged(i, d, r)
				}
			}
		})
	}
	disturb := s.disturbances()[n%len(s.disturbances())]
	m := s.machines[s.r.IntN(len(s.machines))]
	disturb(m)
	work.Wait()
}

// drafts are a few events, most of them notes that nobody else writes.
func (s *soak) drafts(i int) (list []api.Draft) {
	for range 1 + s.r.IntN(longtest.Rounds(5, 40)) {
		s.notes++
		word, other := words[s.r.IntN(len(words))], words[s.r.IntN(len(words))]
		space := "team"
		if s.r.IntN(4) == 0 {
			space = "personal"
		}
		text := fmt.Sprintf("note %d of machine %d is about a %s and a %s", s.notes, i, word, other)
		list = append(list, fleettest.Draft(space, s.payload(space, text)))
	}
	return list
}

func (s *soak) payload(space, text string) event.Payload {
	s.mu.Lock()
	defer s.mu.Unlock()
	others := s.acked["team"]
	if space != "team" || len(others) == 0 {
		return &event.Observe{Content: text}
	}
	target := others[s.r.IntN(len(others))].ID
	switch s.r.IntN(16) {
	case 0:
		return &event.Pref{Category: "editor", Key: fmt.Sprint("key ", s.r.IntN(3)), Value: text}
	case 1:
		return &event.Archive{Target: target, Direction: event.DirectionArchive, Reason: text}
	case 2:
		return &event.Observe{Content: text, Supersedes: target}
	case 3:
		return &event.Redact{Target: target, Reason: text}
	default:
		return &event.Observe{Content: text}
	}
}

func (s *soak) acknowledged(i int, d api.Draft, r api.Receipt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, isNote := d.Payload.(*event.Observe)
	if !isNote || r.Duplicate {
		return
	}
	space := r.Space
	if space != "team" {
		space += " of " + s.owners[i]
	}
	s.acked[space] = append(s.acked[space], fleettest.Saved{ID: r.ID, Text: o.Content})
}

// disturbances are what may happen to a machine, or to all.
func (s *soak) disturbances() []func(*fleettest.Machine) {
	start := func(m *fleettest.Machine) {
		if m.Agent == nil {
			m.Start()
		}
	}
	return []func(*fleettest.Machine){
		func(m *fleettest.Machine) { m.Line.Cut() },
		func(m *fleettest.Machine) { m.Kill(); m.Start() },
		func(*fleettest.Machine) { s.stopHub() },
		func(m *fleettest.Machine) { m.Line.Mend() },
		func(m *fleettest.Machine) { m.Stop() },
		func(*fleettest.Machine) { s.machines[0].Disk.Fill() },
		func(*fleettest.Machine) { s.startHub() },
		func(m *fleettest.Machine) { start(m) },
		func(m *fleettest.Machine) { m.Line.Cut(); m.Line.Mend() },
		func(*fleettest.Machine) { s.machines[0].Disk.Empty() },
		func(m *fleettest.Machine) { m.Kill() },
		func(m *fleettest.Machine) { start(m) },
		func(m *fleettest.Machine) { m.Line.Mend() },
	}
}

func (s *soak) stopHub() {
	if s.hub {
		s.f.StopHub()
	}
	s.hub = false
}

func (s *soak) startHub() {
	if !s.hub {
		s.f.StartHub()
	}
	s.hub = true
}

// calm ends all trouble and waits until nobody has anything left to do.
func (s *soak) calm() {
	s.t.Helper()
	s.startHub()
	for _, m := range s.machines {
		m.Disk.Empty()
		m.Line.Mend()
		if m.Agent == nil {
			m.Start()
		}
	}
	var faults []string
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if faults = s.faults(nil); len(faults) == 0 {
			return
		}
	}
	for _, fault := range faults {
		s.t.Error("they never become level: ", fault)
	}
}

// faults says what is not the same among all who share a space.
func (s *soak) faults(questions []string) []string {
	all := s.members()
	faults := fleettest.Uneven("team", questions, all...)
	faults = append(faults, fleettest.Uneven("personal", questions, all[:3]...)...)
	return append(faults, fleettest.Uneven("personal", questions, all[3:]...)...)
}

func (s *soak) members() (list []fleettest.Member) {
	for _, m := range s.machines {
		list = append(list, m.Member())
	}
	return list
}

// judge looks at all of it, from outside and then at what lies on the disks.
func (s *soak) judge() {
	s.t.Helper()
	say := func(faults []string, err error) {
		s.t.Helper()
		for _, fault := range faults {
			s.t.Error(fault)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	say(s.faults(words), nil)
	for i, m := range s.members() {
		say(fleettest.Doubled(m, "team", s.acked["team"]))
		say(fleettest.Doubled(m, "personal", s.acked["personal of "+s.owners[i]]))
	}
	hub := filepath.Join(s.f.HubDir(), "spaces", "team.git")
	dirs := []string{hub}
	for _, m := range s.machines {
		m.Stop()
		dirs = append(dirs, m.Home.Space("team"), m.Home.Space("personal"))
	}
	s.stopHub()
	say(fleettest.Digests("team", s.members()...))
	ours, err := fleettest.HeadOf(s.machines[0].Home.Space("team"), "team")
	say(nil, err)
	if theirs, err := fleettest.HeadOf(hub, "team"); err != nil || theirs != ours {
		s.t.Errorf("the hub's head is %s, the machines' %s, %v", theirs, ours, err)
	}
	say(fleettest.Unsound(dirs...), nil)
}

// A hub and five machines go through cut lines, kills, restarts and a full disk. When all is calm again everybody has the
// same, finds the same, and every note that was acknowledged is there once.
func TestAFleetInBadTimesLosesNothing(t *testing.T) {
	s := newSoak(t)
	want := longtest.Rounds(100, 10_000)
	for n := 0; s.notes < want && !t.Failed(); n++ {
		s.round(n)
	}
	s.calm()
	s.judge()
	t.Logf("%d events tried, notes acknowledged: %d for all, %d of ana, %d of bo",
		s.notes, len(s.acked["team"]), len(s.acked["personal of ana"]), len(s.acked["personal of bo"]))
	if len(s.acked["team"]) < want/4 {
		t.Error("so little was saved that nothing is proved")
	}
}

// The judges above must see a machine that lags, a note that is lost and one that is there twice.
func TestTheJudgesOfAFleetSeeEachFault(t *testing.T) {
	f := fleettest.Start(t, hub.Options{})
	a, b := f.Wired("a", "ana"), f.Wired("b", "ana")
	badger := fleettest.Saved{ID: a.Note("team", "a badger"), Text: "a badger"}
	b.Finds("badger", "a badger")
	f.Until("they are level", func() bool { return len(fleettest.Uneven("team", words, a.Member(), b.Member())) == 0 })
	b.Line.Cut()
	a.Note("team", "an otter")
	if len(fleettest.Uneven("team", nil, a.Member(), b.Member())) == 0 {
		t.Error("a machine that lags was not seen")
	}
	if faults, err := fleettest.Doubled(a.Member(), "team", []fleettest.Saved{badger, {ID: "01jdyrnk3s8q4b7ymx2v5c6d9e", Text: "a heron"}}); err != nil || len(faults) != 1 {
		t.Errorf("a note that is lost: %q, %v", faults, err)
	}
	d := fleettest.Draft("team", &event.Observe{Content: "a badger"})
	d.Key = "another key"
	if _, err := a.Remember(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if faults, err := fleettest.Doubled(a.Member(), "team", []fleettest.Saved{badger}); err != nil || len(faults) != 1 {
		t.Errorf("a note that is there twice: %q, %v", faults, err)
	}
	a.Stop()
	b.Stop()
	if faults, err := fleettest.Digests("team", a.Member(), b.Member()); err != nil || len(faults) != 1 {
		t.Errorf("two projections: %q, %v", faults, err)
	}
}
