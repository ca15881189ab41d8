package proof_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/faultfs"
	"cairn/internal/longtest"
	"cairn/sync/eventlog"
)

// A scene is a change to one or more repositories, NAME.git each below one folder, during which the power goes.
type scene struct {
	// prepare makes what is there, durably, before it.
	prepare func(root string, a acknowledged) error
	// run makes the change and says what it acknowledges as soon as it does.
	run func(fsys disk.FS, root string, a acknowledged) error
	// again is what the next process does, after which everything must be everywhere; nil for nothing.
	again func(root string) error
}

// acknowledged is what somebody was told is safe, by the name of the repository that must have it.
type acknowledged map[string][]event.ID

func (a acknowledged) add(name string, events ...event.Event) {
	a[name] = append(a[name], idsOf(events)...)
}

func (a acknowledged) clone() acknowledged {
	b := acknowledged{}
	for name, ids := range a {
		b[name] = append([]event.ID{}, ids...)
	}
	return b
}

func idsOf(events []event.Event) (ids []event.ID) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// A crasher lets the power go at every moment of a scene.
type crasher struct {
	findings
	t        *testing.T
	scene    scene
	template string
	before   acknowledged
	lie      int // the sync that is left out, 0 for none
	states   int // that were looked at
}

func newCrasher(t *testing.T, s scene) *crasher {
	t.Helper()
	needGit(t)
	c := &crasher{t: t, scene: s, template: t.TempDir(), before: acknowledged{}}
	if err := s.prepare(c.template, c.before); err != nil {
		t.Fatal(err)
	}
	return c
}

// stage is a copy of what was prepared, on a disk that can be made to fail.
func (c *crasher) stage() (*faultfs.FS, string) {
	c.t.Helper()
	root := filepath.Join(c.t.TempDir(), "root")
	if err := os.CopyFS(root, os.DirFS(c.template)); err != nil {
		c.t.Fatal(err)
	}
	f, err := faultfs.New(root)
	if err != nil {
		c.t.Fatal(err)
	}
	return f, root
}

// syncs is how many syncs the scene has.
func (c *crasher) syncs() int {
	c.t.Helper()
	f, root := c.stage()
	if err := c.scene.run(f, root, c.before.clone()); err != nil {
		c.t.Fatalf("the scene fails on a good disk: %v", err)
	}
	return f.Syncs()
}

// everywhere lets the power go at each operation, or at some of them in the short form, until something is found.
func (c *crasher) everywhere() {
	c.t.Helper()
	for n, done := 1, false; !done && !c.any(); n += 1 + longtest.Rounds(n/3, 0) {
		f, root := c.stage()
		a := c.before.clone()
		f.LieAt(c.lie)
		f.DieAt(n)
		err := c.scene.run(f, root, a)
		done = err == nil
		if err != nil && !errors.Is(err, faultfs.ErrInjected) {
			c.addf("operation %d: %v", n, err)
		}
		some := survivals(f.Unsynced(), longtest.Rounds(2, 3))
		if !longtest.Long() { // other ones each time
			some = []faultfs.Survival{some[n%len(some)], some[n*7/2%len(some)]}
		}
		for _, s := range some {
			c.look(f, s, fmt.Sprintf("power cut at operation %d, %+v", n, s), a)
		}
	}
}

// atTheEnd lets the power go when the scene is over and everything was acknowledged.
func (c *crasher) atTheEnd() {
	c.t.Helper()
	f, root := c.stage()
	a := c.before.clone()
	f.LieAt(c.lie)
	if err := c.scene.run(f, root, a); err != nil {
		c.t.Fatal(err)
	}
	for _, s := range survivals(f.Unsynced(), 1) {
		if s.Contents == faultfs.Kept || s.Contents == faultfs.Halved && !longtest.Long() {
			continue // the kinder ways
		}
		c.look(f, s, fmt.Sprintf("power cut at the end, %+v", s), a)
	}
}

// survivals are ways in which unsynced changes may survive: none of the names, all of them, and some numbers between.
func survivals(names, parts int) (all []faultfs.Survival) {
	for part := range parts + 1 {
		for _, c := range []faultfs.Contents{faultfs.Lost, faultfs.Halved, faultfs.Zeroed, faultfs.Kept} {
			all = append(all, faultfs.Survival{Names: names * part / parts, Contents: c})
		}
	}
	return all
}

// look is the next start of the system.
func (c *crasher) look(f *faultfs.FS, s faultfs.Survival, what string, a acknowledged) {
	c.t.Helper()
	c.states++
	root := filepath.Join(c.t.TempDir(), "after")
	err := f.Crash(root, s)
	if err == nil {
		err = longAgo(root)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for name, ids := range a {
		c.lookAt(what+": "+name, filepath.Join(root, name+".git"), ids)
	}
	if c.scene.again == nil {
		return
	}
	if err := c.scene.again(root); err != nil {
		c.addf("%s: the next time: %v", what, err)
		return
	}
	c.level(what, root, a)
}

// lookAt checks that a repository is whole, has what was acknowledged, and takes the next event.
func (c *crasher) lookAt(what, dir string, ids []event.ID) {
	l, err := eventlog.Open(quick, dir, space, eventlog.WithBoot("after the power cut"))
	if err != nil {
		c.addf("%s: open: %v", what, err)
		return
	}
	defer l.Close()
	next := note("after the power cut", "laptop")
	_, err = l.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{next}, nil })
	if err != nil {
		c.addf("%s: the next append: %v", what, err)
	}
	files, err := filesOf(l)
	if err != nil {
		c.addf("%s: read: %v", what, err)
	}
	for _, id := range append(ids, next.ID) {
		if files[id] == "" {
			c.addf("%s: %s was acknowledged and is lost", what, id)
		}
	}
	if c.states%longtest.Rounds(4, 1) == 0 {
		fsck(&c.findings, what, dir)
	}
}

// level checks that after all is said and done every repository has all events.
func (c *crasher) level(what, root string, a acknowledged) {
	for name := range a {
		files, err := filesAt(filepath.Join(root, name+".git"))
		if err != nil {
			c.addf("%s: %s, read: %v", what, name, err)
		}
		for other, ids := range a {
			for _, id := range ids {
				if files[id] == "" {
					c.addf("%s: %s lacks %s of %s", what, name, id, other)
				}
			}
		}
	}
}

func TestAPowerCutAtAnyMomentLosesNothing(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrasher(t, s)
			c.everywhere()
			c.report(t)
			t.Logf("%d states of the disk", c.states)
		})
	}
}

// Syncs are there for a reason: when one that matters is left out, a power cut must show it.
func TestASyncThatIsLeftOutIsFound(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrasher(t, s)
			syncs := c.syncs()
			found := 0
			for _, lie := range longtest.Rand(t).Perm(syncs) {
				d := &crasher{t: t, scene: s, template: c.template, before: c.before, lie: lie + 1}
				d.atTheEnd()
				if longtest.Long() {
					d.everywhere()
				}
				if !d.any() {
					t.Logf("nothing is found without sync %d of %d", d.lie, syncs)
					continue
				}
				found++
				t.Logf("without sync %d of %d: %s", d.lie, syncs, d.all()[0])
				if !longtest.Long() {
					break
				}
			}
			if found == 0 {
				t.Errorf("none of %d syncs is missed", syncs)
			}
		})
	}
}
