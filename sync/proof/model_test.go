package proof_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/replica"
)

// A fleet is a model of two to five machines and what lies between them: which events each must have.
type fleet struct {
	rt       *rapid.T
	dir      string
	machines []*machine
	saved    map[event.ID]string // all, with the bytes of each
}

// A machine is a log and its remotes, and the events it must hold.
type machine struct {
	name   string
	id     commitform.Space
	log    *eventlog.Log
	to     []*replica.Replica
	holds  map[event.ID]bool
	looked eventlog.Head // that nothingIsLost has seen
}

func (f *fleet) check(err error) {
	if err != nil {
		f.rt.Fatal(err)
	}
}

// newFleet sets up machines that know the same remotes. With one remote they may have been set up apart, each with an
// identity of its own, of which the first to arrive wins.
func newFleet(rt *rapid.T, dir string) *fleet {
	f := &fleet{rt: rt, dir: dir, saved: map[event.ID]string{}}
	remotes := rapid.IntRange(1, 2).Draw(rt, "remotes")
	alone := remotes == 1 && rapid.Bool().Draw(rt, "set up apart")
	for i := range rapid.IntRange(2, 5).Draw(rt, "machines") {
		m := &machine{name: fmt.Sprint("machine ", i), id: home, holds: map[event.ID]bool{}}
		if alone {
			m.id.ID = event.NewID(time.Now())
		}
		f.machines = append(f.machines, m)
		f.open(m)
		for r := range remotes {
			m.to = append(m.to, f.link(m, r))
		}
	}
	return f
}

func (f *fleet) open(m *machine) {
	var err error
	m.log, err = eventlog.Create(quick, at(f.dir, m.name), m.id)
	f.check(err)
}

func (f *fleet) close() {
	for _, m := range f.machines {
		m.log.Close()
	}
}

func (f *fleet) remote(r int) string { return at(f.dir, fmt.Sprint("remote ", r)) }

func (f *fleet) link(m *machine, r int) *replica.Replica {
	return replica.New(replica.Options{Log: m.log, Name: fmt.Sprint("r", r), Remote: replica.Path(quick, f.remote(r))})
}

// pick draws a machine and one of its remotes.
func (f *fleet) pick(rt *rapid.T) (*machine, int) {
	m := f.machines[rapid.IntRange(0, len(f.machines)-1).Draw(rt, "machine")]
	return m, rapid.IntRange(0, len(m.to)-1).Draw(rt, "remote")
}

func (f *fleet) save(rt *rapid.T) {
	m, _ := f.pick(rt)
	var texts []string
	for i := range rapid.IntRange(1, 4).Draw(rt, "events") {
		texts = append(texts, fmt.Sprintf("note %d of %s", len(f.saved)+i, m.name))
	}
	events, err := save(m.log, texts...)
	f.check(err)
	for _, e := range events {
		b, err := event.Encode(e)
		f.check(err)
		f.saved[e.ID], m.holds[e.ID] = string(b), true
	}
}

func (f *fleet) pull(rt *rapid.T) {
	m, r := f.pick(rt)
	_, err := m.to[r].Pull(context.Background())
	f.check(err)
}

func (f *fleet) push(rt *rapid.T) {
	m, r := f.pick(rt)
	_, err := m.to[r].Push(context.Background())
	f.check(err)
}

// reopen is a machine that is started again.
func (f *fleet) reopen(rt *rapid.T) {
	m, _ := f.pick(rt)
	f.check(m.log.Close())
	f.open(m)
	for r := range m.to {
		m.to[r] = f.link(m, r)
	}
}

func (f *fleet) compact(rt *rapid.T) {
	m, _ := f.pick(rt)
	_, err := m.log.Store().Compact(context.Background())
	f.check(err)
}

// tidy has stock git clean up a machine's repository while nobody uses it.
func (f *fleet) tidy(rt *rapid.T) {
	m, _ := f.pick(rt)
	how := rapid.SampledFrom([][]string{{"gc", "-q", "--prune=now"}, {"repack", "-adq"}, {"pack-refs", "--all"}}).Draw(rt, "how")
	_, err := git(m.log.Store().Dir(), how...)
	f.check(err)
}

// nothingIsLost is asked after each step.
func (f *fleet) nothingIsLost(rt *rapid.T) {
	if lost := f.lost(); len(lost) > 0 {
		rt.Fatal(lost)
	}
}

// lost says what machines lack that they had before, and what they have that was never saved.
func (f *fleet) lost() (faults []string) {
	for i, head := range f.heads() {
		m := f.machines[i]
		if head == m.looked {
			continue
		}
		m.looked = head
		files, err := filesOf(m.log)
		f.check(err)
		for id := range m.holds {
			if files[id] != f.saved[id] {
				faults = append(faults, fmt.Sprintf("%s lost %s", m.name, id))
			}
		}
		for id := range files {
			if f.saved[id] == "" {
				faults = append(faults, fmt.Sprintf("%s has %s, which nobody saved", m.name, id))
			}
			m.holds[id] = true
		}
	}
	return faults
}

// settle has everybody meet everybody, in a drawn order, until all have the same. Then meeting again changes nothing.
func (f *fleet) settle() {
	indexes := make([]int, len(f.machines))
	for i := range indexes {
		indexes[i] = i
	}
	order := rapid.Permutation(indexes).Draw(f.rt, "order")
	before := f.heads()
	// In the first round somebody may come before what others push later in it.
	for rounds := 0; rounds < 2 || !slices.Equal(f.heads(), before); rounds++ {
		if rounds > 4 {
			f.rt.Fatalf("they still move after %d rounds", rounds)
		}
		before = f.heads()
		for _, i := range order {
			f.meetAll(f.machines[i])
		}
	}
	if uneven := f.uneven(before); uneven != "" {
		f.rt.Fatal(uneven)
	}
}

func (f *fleet) meetAll(m *machine) {
	for _, r := range m.to {
		_, err := r.Pull(context.Background())
		f.check(err)
		_, err = r.Push(context.Background())
		f.check(err)
	}
}

func (f *fleet) heads() []eventlog.Head {
	var heads []eventlog.Head
	for _, m := range f.machines {
		h, err := m.log.Head()
		f.check(err)
		heads = append(heads, h)
	}
	return heads
}

// uneven says what is not the same everywhere. The commit is the same where all meet at one remote; with two, a machine
// does not push what only joins them again and brings no event, so the joins may differ and only the files agree.
func (f *fleet) uneven(heads []eventlog.Head) string {
	for _, h := range heads {
		if h.Tree != heads[0].Tree || len(f.machines[0].to) == 1 && h != heads[0] {
			return fmt.Sprintf("no common end: %v", heads)
		}
	}
	return ""
}

// judge compares the model with what we, stock git and go-git read.
func (f *fleet) judge() {
	var found findings
	dirs := []string{f.remote(0)}
	for _, m := range f.machines {
		dirs = append(dirs, at(f.dir, m.name))
	}
	for _, dir := range dirs {
		files := judged(&found, filepath.Base(dir), dir)
		if !maps.Equal(files, f.saved) && len(f.saved) > 0 {
			found.addf("%s has %d events of %d, or other bytes", filepath.Base(dir), len(files), len(f.saved))
		}
	}
	if found.any() {
		f.rt.Fatal(found.all())
	}
}

// Whatever two to five machines do and in which order they meet, none loses an event, and in the end all have the same
// history, which every git can read.
func TestReplicasThatMeetInAnyOrderAgree(t *testing.T) {
	needGit(t)
	t.Parallel()
	dirs := t.TempDir()
	n := 0
	check := func(rt *rapid.T) {
		n++
		f := newFleet(rt, filepath.Join(dirs, fmt.Sprint(n)))
		defer f.close()
		rt.Repeat(map[string]func(*rapid.T){
			"save": f.save, "save more": f.save, "pull": f.pull, "push": f.push, "compact": f.compact, "reopen": f.reopen, "tidy": f.tidy,
			"": f.nothingIsLost,
		})
		f.settle()
		f.judge()
	}
	rapid.Check(t, check)
}

// The laws above must notice a log that forgets, and machines that never met.
func TestTheModelFindsALogThatForgets(t *testing.T) {
	needGit(t)
	dirs := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		f := newFleet(rt, filepath.Join(dirs, fmt.Sprint(n)))
		defer f.close()
		f.save(rt)
		if lost := f.lost(); len(lost) > 0 {
			rt.Fatal(lost)
		}
		if f.uneven(f.heads()) == "" {
			rt.Fatal("machines that never met count as level")
		}
		for _, m := range f.machines {
			if len(m.holds) > 0 {
				f.forget(m)
			}
		}
		if len(f.lost()) == 0 {
			rt.Fatal("a log that forgot an event was not found")
		}
	})
}

// forget takes the last event out of a log.
func (f *fleet) forget(m *machine) {
	head, err := m.log.Head()
	f.check(err)
	parent, err := parentOf(m.log, head.Commit)
	f.check(err)
	f.check(m.log.Store().UpdateRef(head.Ref, head.Commit, parent))
}
