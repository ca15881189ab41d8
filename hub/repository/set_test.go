package repository_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

func code(err error) problem.Code {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

func TestSpacesAreMadeOnceAndFoundByName(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	if _, err := h.set.Create("docs", time.Now()); err != nil {
		t.Fatal(err)
	}
	if names, err := h.set.Names(); err != nil || !slices.Equal(names, []string{"docs", "team"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if again, err := h.set.Shared("team"); err != nil || again != h.team {
		t.Errorf("team is opened twice, %v", err)
	}
	for _, name := range []string{"team", "personal", "local", "", "Team", "a/b", "..", strings.Repeat("x", 64)} {
		if _, err := h.set.Create(name, time.Now()); code(err) != problem.Usage {
			t.Errorf("create %q: %v", name, err)
		}
	}
	for _, name := range []string{"nothing", "personal", "../spaces/team", ""} {
		if _, err := h.set.Shared(name); code(err) != problem.NotFound {
			t.Errorf("open %q: %v", name, err)
		}
	}
}

// However many spaces are open, their caches have one bound together.
func TestSpacesShareOneCache(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	for _, name := range []string{"docs", "plans"} {
		before := h.set.Remembered()
		r, err := h.set.Create(name, time.Now())
		if err == nil {
			_, _, err = r.Count(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if now := h.set.Remembered(); now <= before || now > repository.MostRemembered {
			t.Errorf("with %s %d bytes are remembered, %d before", name, now, before)
		}
	}
}

// A push that is refused leaves nothing in the hub's memory either.
func TestWhatIsRefusedIsNotRemembered(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	before := h.set.Remembered()
	events := []event.Event{m.event("the word is " + forbidden)}
	for range 1000 {
		events = append(events, m.event("fine"))
	}
	m.append(events...) // in one folder, with an entry for each
	if a := m.push(repository.ForMain); !slices.Contains(a.outcome.Rules, "secret") {
		t.Fatalf("%+v", a.outcome)
	}
	if now := h.set.Remembered(); now > before+10<<10 {
		t.Errorf("%d bytes more are remembered", now-before)
	}
}

func TestEachPersonHasASpaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	ana, err := h.set.Personal("ana", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	bo, err := h.set.Personal("bo", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if ana == bo || ana.Space().ID == bo.Space().ID || ana.Space().Name != hubwire.Personal {
		t.Errorf("ana's is %+v, bo's %+v", ana.Space(), bo.Space())
	}
	if again, err := h.set.Personal("ana", time.Now()); err != nil || again != ana {
		t.Errorf("ana's is made twice, %v", err)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "people", "ana", "personal.git", "HEAD")); err != nil {
		t.Error(err)
	}
	if _, err := h.set.Personal("../ana", time.Now()); code(err) != problem.NotFound {
		t.Errorf("a path for a name: %v", err)
	}
}

// What another process makes is found without being told.
func TestASpaceOfAnotherProcessIsFound(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	other := repository.NewSet(disk.OS, h.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	made, err := other.Create("docs", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	found, err := h.set.Shared("docs")
	if err != nil || found.Space() != made.Space() {
		t.Errorf("found %v, %v", found, err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// A damaged repository is refused with a code and a way out, never taken for
// an empty one.
func TestDamagedRepositoriesAreRefusedByName(t *testing.T) {
	t.Parallel()
	write := func(dir, name, text string) error {
		return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644)
	}
	for name, c := range map[string]struct {
		want   problem.Code
		damage func(dir string) error
	}{
		"detached":       {problem.Detached, func(dir string) error { return write(dir, "HEAD", strings.Repeat("1", 40)+"\n") }},
		"empty branch":   {problem.GarbledRef, func(dir string) error { return write(dir, event.MainRef, "") }},
		"lost branch":    {problem.Corrupt, func(dir string) error { return os.Remove(filepath.Join(dir, filepath.FromSlash(event.MainRef))) }},
		"shallow":        {problem.Shallow, func(dir string) error { return write(dir, "shallow", strings.Repeat("1", 40)+"\n") }},
		"other branch":   {problem.Detached, func(dir string) error { return write(dir, "HEAD", "ref: refs/heads/other\n") }},
		"no HEAD at all": {problem.Corrupt, func(dir string) error { return os.Remove(filepath.Join(dir, "HEAD")) }},
		"another space":  {problem.Foreign, replaced},
	} {
		h := newHub(t, repository.Limits{})
		if err := c.damage(h.repo()); err != nil {
			t.Fatal(err)
		}
		set := repository.NewSet(disk.OS, h.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
		_, err := set.Shared("team")
		if code(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if p := problem.Of(err); p == nil || p.Hint == "" {
			t.Errorf("%s: no way out is told", name)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}
}

// replaced puts the repository of another space in the place of dir.
func replaced(dir string) error {
	if err := os.Rename(dir, dir+".old"); err != nil {
		return err
	}
	l, err := eventlog.Create(disk.OS, dir, commitform.Space{Name: "other", ID: event.NewID(time.Now())})
	if err != nil {
		return err
	}
	return l.Close()
}

func TestAWatcherThatIsTooSlowIsDropped(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	docs, err := h.set.Create("docs", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	feed := repository.NewFeed()
	slow, quick, other := feed.Watch(h.team), feed.Watch(h.team, docs), feed.Watch(docs)
	for i := range 300 {
		feed.Tell(h.team)
		if c := <-quick.Changes; c.Seq != uint64(i+1) || c.Repository != h.team {
			t.Fatalf("change %d is %+v", i, c)
		}
	}
	n := uint64(0)
	for c := range slow.Changes { // ends only because it was closed
		if n++; c.Seq != n {
			t.Fatalf("change %+v after %d", c, n-1)
		}
	}
	if n == 300 || n == 0 || len(other.Changes) != 0 {
		t.Errorf("%d changes waited, %d for the other", n, len(other.Changes))
	}
	for _, w := range []*repository.Watcher{slow, quick, other} {
		w.Close()
		w.Close()
	}
	if late := feed.Watch(docs); late.Since != 300 {
		t.Errorf("a new watcher begins after %d", late.Since)
	}
}

func TestOneDevicePushesOneAtATime(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{Pushes: 1})
	laptop, desktop := h.clone("laptop"), h.clone("desktop")
	laptop.note("one")
	desktop.note("two")
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := make(chan answer, 1)
	go func() {
		first <- laptop.send(repository.ForMain, laptop.tip(), func(w io.Writer, theirs plumbing.Hash) error {
			close(begun)
			<-goOn
			return laptop.encode(w, laptop.tip(), theirs)
		})
	}()
	<-begun
	second := make(chan answer, 1)
	go func() { second <- desktop.push(repository.ForMain) }()
	// The second waits for its place; once the first is done both land.
	close(goOn)
	(<-first).mustBeTaken(t)
	(<-second).mustBeTaken(t)
	if len(h.events()) != 2 {
		t.Errorf("the hub has %v", h.events())
	}
}

func TestManyPushesDoNotLeaveManyPacks(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	const pushes = 66 // some more than are joined at once
	for range pushes {
		m.note("hello")
		m.push(event.MainRef).mustBeTaken(t)
	}
	packs := func() int {
		names, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	for tries := 0; packs() > pushes/2; tries++ {
		if tries == 3000 {
			t.Fatalf("%d packs are left", packs())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(h.events()) != pushes {
		t.Errorf("%d events at the hub", len(h.events()))
	}
	h.team.Rest() // packs that are removed under git's hands look damaged to it
	h.fsck()
}
