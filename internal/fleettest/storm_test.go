package fleettest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"cairn/agent/api"
	"cairn/hub"
	"cairn/hub/repository"
	"cairn/hub/sshdoor"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/internal/longtest"
	"cairn/internal/measure"
	"cairn/internal/memuse"
	"cairn/policy/secrets/secretstest"
)

const (
	honestDevices = 10
	foesEach      = 4         // of each kind of attack
	maxStorm      = 300 << 20 // that the process of the hub takes at most
	maxLeft       = 32 << 20  // that its heap is larger afterwards, by caches and the notes
	// maxToldHour is how often in an hour the audit events tell of one person and one rule.
	maxToldHour = 60
)

// A storm is a hub with ten honest devices and many foes.
type storm struct {
	t      *testing.T
	f      *fleettest.Fleet
	honest []*fleettest.Machine

	mu       sync.Mutex
	notes    int // that the honest were given to save
	acked    []fleettest.Saved
	troubles int
}

func newStorm(t *testing.T, start func(testing.TB, hub.Options) *fleettest.Fleet, o hub.Options) *storm {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only on linux a foe has an address of its own on one machine, so no storm was tried")
	}
	return &storm{t: t, f: start(t, o)}
}

// gentle are the limits of a hub as they are, but for waits that would make the test long.
func gentle() hub.Options {
	return hub.Options{
		Door:   sshdoor.Limits{KeepAlive: 5 * time.Second, Stall: 3 * time.Second, Grace: time.Second},
		Pushes: repository.Limits{Stall: 3 * time.Second},
	}
}

// settle has honest devices join, two of a person each.
func (s *storm) settle(devices int) {
	s.t.Helper()
	for i := range devices {
		s.honest = append(s.honest, s.f.Joined(fmt.Sprintf("device-%d", i), fmt.Sprintf("person-%d", i/2)))
	}
}

// recruits are so many for each attack, the members among them invited.
func (s *storm) recruits(list []attack, each int) (all [][]recruit) {
	s.t.Helper()
	for i, a := range list {
		all = append(all, nil)
		for n := range each {
			person := map[company]string{people: fmt.Sprintf("foe-%d-%d", i, n), onePerson: fmt.Sprintf("foe-%d", i)}[a.by]
			all[i] = append(all[i], recruited(s.f, 1+i*each+n, person, s.t.TempDir()))
		}
	}
	return all
}

// A pace is how an honest device works: so many times, but none that begins later than within, and how long its user
// thinks between two, give or take a half.
type pace struct {
	rounds int
	within time.Duration // 0 for any
	think  time.Duration
}

// work has every honest device save, sync and ask, and returns how long it took each time.
func (s *storm) work(p pace) (took measure.Times) {
	var work sync.WaitGroup
	began := time.Now()
	for i, m := range s.honest {
		work.Go(func() {
			for range p.rounds {
				time.Sleep(time.Duration((0.5 + rand.Float64()) * float64(p.think)))
				start := time.Now()
				if p.within > 0 && start.Sub(began) > p.within {
					return
				}
				if err := s.save(m, s.text(i)); err != nil {
					s.t.Errorf("device %d: %v", i, err)
					return
				}
				s.mu.Lock()
				took = append(took, time.Since(start))
				s.mu.Unlock()
			}
		})
	}
	work.Wait()
	return took
}

// text is a note that nobody has saved before: the same one again would be no note to send.
func (s *storm) text(device int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes++
	return fmt.Sprintf("honest note %d, of device %d, about a %s", s.notes, device, words[s.notes%len(words)])
}

func (s *storm) save(m *fleettest.Machine, text string) error {
	ctx := context.Background()
	r, err := m.Remember(ctx, fleettest.Note("team", text))
	if err == nil && r.Duplicate {
		err = errors.New("the note was there already, so that nothing is sent")
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.acked = append(s.acked, fleettest.Saved{ID: r.ID, Text: text})
	s.mu.Unlock()
	results, err := m.Sync(ctx, api.SyncRequest{Space: "team"})
	for _, r := range results {
		if r.Problem != nil {
			s.mu.Lock()
			s.troubles++
			s.mu.Unlock()
			s.t.Logf("a sync: %v", r.Problem)
		}
	}
	if err != nil {
		return err
	}
	_, err = m.Ask(ctx, api.Query{Text: words[0], Limit: 10})
	return err
}

// arrived waits until every device has every note.
func (s *storm) arrived() {
	s.t.Helper()
	s.until("every note has arrived everywhere", func() bool { return len(s.missing(s.acked)) == 0 })
}

// until waits for a condition longer than a fleet does, and is no test's end.
func (s *storm) until(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.t.Errorf("it never came to that: %s", what)
}

// A spell is what was seen while the foes raged, or kept quiet, each time.
type spell struct {
	name              string
	took              measure.Times
	lasted            time.Duration
	hub, foes, honest time.Duration // of processor time
}

// watch works at a pace and adds what that took to a spell.
func (s *storm) watch(g *gang, sp *spell, p pace) {
	s.t.Helper()
	read := func() [3]time.Duration {
		return [3]time.Duration{used(s.t, s.f.Apart().Pid()), g.used(), used(s.t, os.Getpid())}
	}
	start, before := time.Now(), read()
	sp.took = append(sp.took, s.work(p)...)
	after := read()
	sp.lasted += time.Since(start)
	sp.hub, sp.foes, sp.honest = sp.hub+after[0]-before[0], sp.foes+after[1]-before[1], sp.honest+after[2]-before[2]
}

func (sp *spell) String() string {
	return fmt.Sprintf("%s: %d times saved, synced and asked, p50 %v, p95 %v, at most %v; in %v the hub used %v of processor time, the foes %v, the honest %v",
		sp.name, len(sp.took), sp.took.Percentile(50), sp.took.Percentile(95), sp.took.Percentile(100), sp.lasted, sp.hub, sp.foes, sp.honest)
}

// Fifty hostile connections and more at a time, of thirteen kinds, beside ten honest devices: every honest note arrives
// everywhere while the storm goes on, nothing of a foe's lands, the hub's memory stays bounded and goes back afterwards,
// and the hub has written down whom it refused, without being flooded by it. How long the honest take is measured without
// the storm, in its first seconds, in which all foes log in at once, and in the middle of it, in turns; that is asserted
// nowhere.
func TestAStormDoesNotReachTheHonest(t *testing.T) {
	s := newStorm(t, fleettest.StartApart, gentle())
	s.settle(honestDevices)
	s.work(pace{rounds: longtest.Rounds(1, 10)}) // the first times take longer
	s.arrived()
	g := newGang(t, s.recruits(attacks(), foesEach))
	quiet := s.held()
	calm, start, storm := spell{name: "calm"}, spell{name: "start of a storm"}, spell{name: "storm"}
	think := time.Duration(longtest.Rounds(50, 2000)) * time.Millisecond // less in the short form than people do
	for range longtest.Rounds(1, 4) {
		s.watch(g, &calm, pace{rounds: longtest.Rounds(2, 6), think: think})
		g.rage()
		s.watch(g, &start, pace{rounds: longtest.Rounds(2, 20), within: 5 * time.Second, think: think})
		s.watch(g, &storm, pace{rounds: longtest.Rounds(2, 6), think: think})
		s.arrived()
		g.calm()
		s.until("the last foe's session has ended", func() bool { return s.held().Goroutines <= quiet.Goroutines })
	}
	rules := map[string]string{
		"garbage for packs": "pack", "packs that unpack to much": hubwire.RuleLimit, "lines without end": "protocol",
		"pushes with secrets": secretstest.Rules()[0],
	}
	g.rage()
	s.until("each attack was refused, and one foe often", func() bool { return s.flooded() && len(s.unrecorded(rules)) == 0 })
	found := g.calm()
	s.bounded(quiet)
	t.Logf("%v\n%v\n%v\n%d syncs had trouble", &calm, &start, &storm, s.troubles)
	for _, a := range attacks() {
		t.Logf("%s: %d", a.name, found.Tried[a.name])
		if found.Tried[a.name] == 0 {
			t.Errorf("%s: not once, so nothing is proved", a.name)
		}
	}
	if len(found.Breaches) > 0 {
		t.Errorf("breached: %v", slices.Compact(slices.Sorted(slices.Values(found.Breaches))))
	}
	s.judge(rules)
}

// held is what the hub holds.
func (s *storm) held() fleettest.Held {
	s.t.Helper()
	h, err := s.f.Apart().Held()
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// bounded looks at the memory of the hub when the foes have gone: what it took at most, and that it holds nothing of
// theirs any more.
func (s *storm) bounded(quiet fleettest.Held) {
	s.t.Helper()
	use, err := memuse.Of(s.f.Apart().Pid())
	if err != nil || use.Peak > maxStorm {
		s.t.Errorf("the hub took %d MB, %v", use.Peak>>20, err)
	}
	var now fleettest.Held
	s.until("the hub holds what it held before", func() bool {
		now = s.held()
		return now.Goroutines <= quiet.Goroutines && now.Heap <= quiet.Heap+maxLeft
	})
	s.t.Logf("the hub took %d MB at most; it held %+v before the foes came, %+v after they had gone", use.Peak>>20, quiet, now)
}

// judge looks at what the storm has left, once the hub has ended the last foe's session.
func (s *storm) judge(rules map[string]string) {
	s.t.Helper()
	var faults []string
	s.until("the hub is as it should be", func() bool {
		faults = append(s.missing(s.acked), s.landed(s.acked)...)
		faults = append(faults, s.recorded(rules, maxToldHour)...)
		return len(faults) == 0
	})
	for _, fault := range faults {
		s.t.Error(fault)
	}
}

// The judges of a storm must see a note that is lost, one of a foe's that landed, what nobody recorded and what was told
// too often.
func TestTheJudgesOfAStormSeeEachFault(t *testing.T) {
	s := newStorm(t, fleettest.Start, gentle())
	s.settle(2)
	s.work(pace{rounds: 1})
	s.arrived()
	s.judge(nil)
	if err := s.save(s.honest[0], s.acked[0].Text); err == nil {
		t.Error("a note that is there already counts as one that was sent")
	}
	lost := append(slices.Clone(s.acked), fleettest.Saved{ID: event.NewID(time.Now()), Text: "withheld"})
	if m, l := s.missing(lost), s.landed(lost); len(m) != len(s.honest) || len(l) != 1 {
		t.Errorf("a note that is lost: %q, %q", m, l)
	}
	if faults := s.recorded(map[string]string{"nothing": "no rule"}, 0); len(faults) < 2 {
		t.Errorf("what is not recorded, and what is told too often: %q", faults)
	}
	e, err := newFoe(s.f, 1, "foe", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.pushNote(t.Context(), hostileMark); !errors.Is(err, errBreached) {
		t.Fatalf("a note of a member that nothing forbids: %v", err)
	}
	if faults := s.landed(s.acked); len(faults) != 2 {
		t.Errorf("an object and an event of a foe's: %q", faults)
	}
}

// One foe with many sessions is enough to tell a hub with its limits from one without.
func TestAStormWithoutLimitsIsSeen(t *testing.T) {
	const most = 64 << 20
	for name, c := range map[string]struct {
		limits sshdoor.Limits
		grows  bool
	}{
		"with limits": {limits: sshdoor.Limits{Handshake: 5 * time.Second}}, "without": {sshdoor.Limits{Awaiting: 64, Sessions: 64}, true},
	} {
		s := newStorm(t, fleettest.Start, hub.Options{Door: c.limits})
		list := slices.DeleteFunc(attacks(), func(a attack) bool { return a.name != "sessions without end" })
		foes, err := muster(s.recruits(list, 1))
		if err != nil {
			t.Fatal(err)
		}
		r := new(raid)
		peak, err := memuse.Heap(func() error {
			before := heap()
			calm := r.rage(list, foes)
			defer calm()
			if c.grows {
				s.until("the heap has grown too much", func() bool { return heap() > before+most })
			} else {
				s.until("it was tried several times", func() bool { return r.soFar().Tried[list[0].name] > 1 })
			}
			return nil
		})
		if err != nil || (peak > most) != c.grows {
			t.Errorf("%s the heap grew by %d MB, %v", name, peak>>20, err)
		}
	}
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
