package repository_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/intake"
	"cairn/sync/purge/purgetest"
)

// word is one that stands nowhere by chance.
func word() string { return fmt.Sprintf("zq%016x", rand.Uint64()) }

func order(ids ...event.ID) repository.PurgeOrder {
	key := eventtest.Key("hub")
	o := repository.PurgeOrder{
		Now: time.Now(), Key: key.Public().(ed25519.PublicKey),
		Sign: func(b []byte) []byte { return ed25519.Sign(key, b) },
	}
	for _, id := range ids {
		o.Events = append(o.Events, string(id))
	}
	return o
}

func (h *hub) purge(ids ...event.ID) repository.Purged {
	h.t.Helper()
	done, err := h.team.Purge(h.t.Context(), order(ids...))
	if err != nil || done.Undone != nil {
		h.t.Fatalf("purge: %v, %v", err, done.Undone)
	}
	return done
}

// A leak is a hub with a note that has to go, and notes of two machines around
// it.
type leak struct {
	*hub
	m, other *machine
	secret   string
	leaked   event.Event
	rest     []event.ID
}

func newLeak(t testing.TB) *leak {
	t.Helper()
	l := &leak{hub: newHub(t, repository.Limits{}), secret: word()}
	l.m = l.clone("laptop")
	first := l.m.note("stored before")
	l.m.push(event.MainRef).mustBeTaken(t)
	l.other = l.clone("desktop")
	beside := l.other.note("beside it")
	l.leaked = l.m.note("the code is " + l.secret)
	after := l.m.note("stored after")
	l.m.push(event.MainRef).mustBeTaken(t)
	l.other.push(repository.ForMain).mustBeTaken(t)
	l.rest = []event.ID{first.ID, beside.ID, after.ID}
	slices.Sort(l.rest)
	return l
}

func (l *leak) mustBeClean(when string) {
	l.t.Helper()
	if found := purgetest.Traces(l.t, l.dir, l.secret); len(found) > 0 {
		l.t.Fatalf("%s: %v", when, found)
	}
	if got := l.events(); !slices.Equal(got, l.rest) {
		l.t.Fatalf("%s the hub has %v, not %v", when, got, l.rest)
	}
	l.fsck()
}

func TestAPurgedEventIsInNoByteOfTheHub(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	if len(purgetest.Traces(t, l.dir, l.secret)) == 0 {
		t.Fatal("the search does not find it in the first place")
	}
	before := l.head()
	done := l.purge(l.leaked.ID)
	if done.Epoch != 1 || !slices.Equal(done.Events, []event.ID{l.leaked.ID}) || done.Head != l.head() || done.Head == before {
		t.Errorf("done %+v", done)
	}
	l.mustBeClean("after the purge")
	again := l.purge(l.leaked.ID)
	if again.Epoch != 1 || len(again.Events) != 0 || !slices.Equal(again.Already, []event.ID{l.leaked.ID}) {
		t.Errorf("again %+v", again)
	}
	refs, err := l.team.Refs(t.Context())
	if err != nil || refs[eventlog.EpochRef].IsZero() {
		t.Errorf("refs %v, %v", refs, err)
	}
	// A new machine gets the rest.
	if got := eventsOf(t, l.clone("third").log); !slices.Equal(got, l.rest) {
		t.Errorf("a new clone has %v", got)
	}
}

// A search that finds nothing proves nothing, unless it finds a pack that was
// left behind.
func TestAPackThatAPurgeLeavesIsFound(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	packs, err := filepath.Glob(filepath.Join(l.repo(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	saved := t.TempDir()
	if err := os.CopyFS(saved, os.DirFS(l.repo())); err != nil {
		t.Fatal(err)
	}
	l.purge(l.leaked.ID)
	left := 0
	for _, p := range packs {
		b, err := os.ReadFile(filepath.Join(saved, "objects", "pack", filepath.Base(p)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		left += len(purgetest.Traces(t, l.dir, l.secret))
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
	if left != 1 {
		t.Errorf("%d of %d packs were found, one held it", left, len(packs))
	}
	l.mustBeClean("in the end")
}

func TestWhatIsPurgedDoesNotComeBack(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	stale := l.clone("third")
	l.enrol("eva", "write", "third")
	l.purge(l.leaked.ID)
	refused := func(what string, a answer) {
		t.Helper()
		if !slices.Contains(a.rules(), intake.RulePurged) {
			t.Errorf("%s: %v, %q", what, a.rules(), a.lines)
		}
		for _, r := range a.refusals() {
			if r.Rule == intake.RulePurged && r.Event != l.leaked.ID {
				t.Errorf("%s: event %s is named", what, r.Event)
			}
		}
		l.mustBeClean(what)
	}
	stale.note("written on the old history")
	refused("a stale clone for the hub to join", stale.push(repository.ForMain))
	refused("a stale clone to main", stale.push(event.MainRef))
	// It fetches and joins by itself.
	stale.pull()
	refused("a merge", stale.push(repository.ForMain))
	// Someone has the event as a file.
	fresh := l.clone("desktop")
	fresh.append(l.leaked)
	refused("an import", fresh.push(event.MainRef))
	// Its bytes alone.
	data, err := event.Encode(l.leaked)
	if err != nil {
		t.Fatal(err)
	}
	other := l.clone("laptop")
	other.note("harmless")
	blob := other.object(plumbing.BlobObject, data)
	refused("a blob beside", other.pushTip(event.MainRef, other.tip(), blob))
	other.push(event.MainRef).mustBeTaken(t)
}

// The same events pushed anew on the new history are taken.
func TestARepositoryGoesOnAfterAPurge(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	l.purge(l.leaked.ID)
	m := l.clone("laptop")
	e := m.note("after the purge")
	m.push(event.MainRef).mustBeTaken(t)
	l.rest = append(l.rest, e.ID)
	l.mustBeClean("after a push")
	done := l.purge(e.ID, l.rest[0])
	if done.Epoch != 2 || len(done.Events) != 2 {
		t.Errorf("the second purge did %+v", done)
	}
	l.rest = l.rest[1 : len(l.rest)-1]
	l.mustBeClean("after the second purge")
}

// A push that was checked before a purge and lands after it would bring back
// what it was not checked for.
func TestAPushUnderWayDuringAPurgeIsSentBack(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	stale := l.clone("desktop")
	stale.note("on the old history")
	slow := l.pusher("desktop")
	judge := slow.Judge
	slow.Judge = func() (repository.Judge, error) {
		l.purge(l.leaked.ID)
		return judge()
	}
	a := stale.sendAs(slow, repository.ForMain, stale.tip(), func(w io.Writer, theirs plumbing.Hash) error {
		return stale.encode(w, stale.tip(), theirs)
	})
	if a.err == nil || a.outcome.Taken {
		t.Errorf("the push was taken: %+v", a.outcome)
	}
	l.mustBeClean("after the push")
}

// What another process purges is noticed: watchers hear of it.
func TestAPurgeByAnotherProcessIsNoticed(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	w := l.set.Feed().Watch(l.team)
	defer w.Close()
	set := repository.NewSet(disk.OS, l.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	defer set.Close()
	team, err := set.Shared("team")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := team.Purge(t.Context(), order(l.leaked.ID)); err != nil {
		t.Fatal(err)
	}
	if err := l.set.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := map[string]plumbing.Hash{}
	for range 2 {
		select {
		case c := <-w.Changes:
			told[c.Ref] = c.New
		case <-time.After(10 * time.Second):
			t.Fatalf("told only of %v", told)
		}
	}
	refs, err := l.team.Refs(t.Context())
	if err != nil || told[event.MainRef] != refs[event.MainRef] || told[eventlog.EpochRef] != refs[eventlog.EpochRef] {
		t.Errorf("told of %v, the refs are %v, %v", told, refs, err)
	}
	l.mustBeClean("after it was noticed")
	a := l.m.push(repository.ForMain)
	if !slices.Contains(a.rules(), intake.RulePurged) {
		t.Errorf("a stale push is answered with %v %v", a.rules(), a.lines)
	}
}

// A fetch that was shown the old history must not send it any more. It ends at
// once, also if it waits for its client, who is told why.
func TestAFetchUnderWayEndsWithAPurge(t *testing.T) {
	t.Parallel()
	for name, purge := range map[string]func(*leak){
		"by this process": func(l *leak) { l.purge(l.leaked.ID) },
		"by another process": func(l *leak) {
			_, _, team := l.inTrouble(slog.New(slog.DiscardHandler))
			if _, err := team.Purge(t.Context(), order(l.leaked.ID)); err != nil {
				t.Fatal(err)
			}
			if err := l.set.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		l := newLeak(t)
		var told func() error
		conn, end := l.serve(func(ctx context.Context, rw hubwire.Stream) error {
			told = func() error { return rw.(*wire).told }
			return l.fetching(ctx, rw)
		})
		ad, err := gitwire.ReadAdvert(conn)
		if err != nil || ad.Refs[event.MainRef].IsZero() {
			t.Fatal(ad, err)
		}
		purge(l)
		if err := end(); !errors.Is(err, repository.ErrPurged) || !errors.Is(told(), repository.ErrPurged) {
			t.Errorf("%s: the fetch ends with %v, the client is told %v", name, err, told())
		}
		l.mustBeClean(name)
	}
}

// A space whose purge broke off, and has to wait before it can be finished, keeps
// nobody from any other space.
func TestASpaceThatHasToWaitHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	d, _, team := l.inTrouble(slog.New(slog.DiscardHandler))
	d.when(func(op, name string) bool { return op == "rename" && strings.HasSuffix(name, event.MainRef) })
	if _, err := team.Purge(t.Context(), order(l.leaked.ID)); err == nil {
		t.Fatal("the purge was to break off")
	}
	lock, err := l.store().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := repository.NewSet(disk.OS, l.dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	defer set.Close()
	opened := make(chan *repository.Repository, 1)
	go func() {
		late, err := set.Shared("team")
		_, other := set.Create("other", time.Now())
		if err := errors.Join(err, other); err != nil {
			t.Error(err)
		}
		opened <- late
	}()
	var late *repository.Repository
	select {
	case late = <-opened:
	case <-time.After(10 * time.Second):
		t.Error("both spaces wait for the lock of one")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if late != nil {
		if _, _, err := late.Count(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone is waited for: %v", err)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if late == nil {
		late = <-opened
	}
	if _, n, err := late.Count(t.Context()); err != nil || n != len(l.rest) {
		t.Errorf("%d events, %v", n, err)
	}
}

func TestWhatCannotBePurged(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	m := l.clone("laptop")
	redact := eventtest.Of(&event.Redact{Target: l.rest[0], Reason: "wrong", RedactedSpans: []event.Span{}})
	redact.Space, redact.Classification = "team", event.Public
	redact = eventtest.Signed(redact, "laptop")
	m.append(redact)
	m.push(event.MainRef).mustBeTaken(t)
	before := l.files()
	for name, c := range map[string]struct {
		events []string
		code   problem.Code
	}{
		"no such event":         {[]string{string(event.NewID(time.Now()))}, problem.NotFound},
		"too few characters":    {[]string{"01j"}, problem.NotFound},
		"one of two":            {[]string{string(l.leaked.ID), "zzzzzz"}, problem.NotFound},
		"several":               {[]string{string(l.leaked.ID)[:6]}, problem.Usage},
		"a redaction by itself": {[]string{string(redact.ID)}, problem.Usage},
	} {
		o := order()
		o.Events = c.events
		_, err := l.team.Purge(t.Context(), o)
		if problem.Of(err) == nil || problem.Of(err).Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := l.files(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("a refused purge changed the hub")
	}
	short := string(l.leaked.ID)
	o := order()
	o.Events = []string{"~" + short[len(short)-8:]}
	if done, err := l.team.Purge(t.Context(), o); err != nil || !slices.Equal(done.Events, []event.ID{l.leaked.ID}) {
		t.Errorf("by its end: %+v, %v", done, err)
	}
	if done := l.purge(redact.ID, l.rest[0]); len(done.Events) != 2 {
		t.Errorf("a redaction and what it hides: %+v", done)
	}
}

// Refs that somebody made at the hub, loose objects and packs that are to be
// kept hold the bytes as well.
func TestAPurgeLeavesNoHidingPlace(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	store := l.store()
	old := l.head()
	if err := store.UpdateRef("refs/heads/backup", plumbing.ZeroHash, old); err != nil {
		t.Fatal(err)
	}
	packs, err := filepath.Glob(filepath.Join(l.repo(), "objects", "pack", "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		packs[0][:len(packs[0])-len(".pack")] + ".keep":                         "mine\n",
		filepath.Join(l.repo(), "objects", "pack", "new-1.pack-draft"):          l.secret,
		filepath.Join(l.repo(), "objects", "pack", "tmp_pack_x"):                l.secret,
		filepath.Join(l.repo(), "objects", "aa", "tmp_obj_x"):                   l.secret,
		filepath.Join(l.repo(), "objects", "incoming", "dead", "received.pack"): l.secret,
		filepath.Join(l.repo(), "objects", "info", "commit-graph"):              "old\n",
		filepath.Join(l.repo(), "logs", "refs", "heads", "main"):                "old\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// A quarantine whose owner made no lock file is left alone for a while.
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(l.repo(), "objects", "incoming", "dead"), past, past); err != nil {
		t.Fatal(err)
	}
	l.purge(l.leaked.ID)
	l.mustBeClean("afterwards")
	if _, err := store.Ref("refs/heads/backup"); !errors.Is(err, plumbing.ErrReferenceNotFound) {
		t.Errorf("the ref to the old history: %v", err)
	}
}

func (l *leak) store() *gitstore.Store {
	s, err := gitstore.Open(disk.OS, l.repo())
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { s.Close() })
	return s
}

// A hub that is killed, or loses power, at any step of a purge has either not
// begun it, or finishes it when it is next opened; every other event is there
// at every moment.
func TestAHubThatDiesDuringAPurgeFinishesIt(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	all := l.events()
	began := false
	step := 11
	if os.Getenv("CAIRN_LONG_TESTS") != "" {
		step = 1
	}
	for n := 1; ; n += step {
		died, recorded := l.dieInPurge(n, all)
		began = began || recorded
		if !died {
			if n < 20 || !began {
				t.Errorf("a purge has only %d steps, so little was tried", n)
			}
			return
		}
	}
}

func (l *leak) dieInPurge(n int, all []event.ID) (died, recorded bool) {
	t := l.t
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hub")
	if err := os.CopyFS(dir, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	fsys, err := faultfs.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := repository.NewSet(fsys, dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	team, err := set.Shared("team")
	if err != nil {
		t.Fatal(err)
	}
	fsys.DieAt(n)
	done, err := team.Purge(t.Context(), order(l.leaked.ID))
	died = err != nil || done.Undone != nil
	// A dying hub cannot release its files in order.
	_ = set.Close()
	acknowledged := err == nil
	recorded = l.reopen(fmt.Sprintf("killed at step %d", n), dir, all, acknowledged)
	for _, lost := range []faultfs.Contents{faultfs.Kept, faultfs.Lost} {
		after := filepath.Join(t.TempDir(), "after")
		if err := fsys.Crash(after, faultfs.Survival{Names: fsys.Unsynced() / 2, Contents: lost}); err != nil {
			t.Fatal(err)
		}
		purgetest.Boot(t, after)
		l.reopen(fmt.Sprintf("without power at step %d", n), after, all, acknowledged)
	}
	return died, recorded
}

// reopen looks at what the next process finds, and whether it finishes.
func (l *leak) reopen(when, dir string, all []event.ID, acknowledged bool) (recorded bool) {
	t := l.t
	t.Helper()
	if got := mustEvents(t, dir); !slices.Equal(got, all) && !slices.Equal(got, l.rest) {
		t.Fatalf("%s the hub has %v", when, got)
	}
	set := repository.NewSet(disktest.Unsynced(disk.OS), dir, repository.Limits{}, slog.New(slog.DiscardHandler))
	team, err := set.Shared("team")
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer set.Close()
	refs, err := team.Refs(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	recorded = !refs[eventlog.EpochRef].IsZero()
	if acknowledged && !recorded {
		t.Fatalf("%s: it said that it was done, and forgot it", when)
	}
	// What it has begun it finishes by itself; else the admin asks again.
	done, err := team.Purge(t.Context(), order(l.leaked.ID))
	if err != nil || done.Undone != nil || recorded != (len(done.Already) == 1) {
		t.Fatalf("%s: again: %+v, %v", when, done, err)
	}
	if found := purgetest.Traces(t, dir, l.secret); len(found) > 0 {
		t.Fatalf("%s: %v", when, found)
	}
	if got := mustEvents(t, dir); !slices.Equal(got, l.rest) {
		t.Fatalf("%s the hub has in the end %v", when, got)
	}
	return recorded
}

func mustEvents(t testing.TB, dir string) []event.ID {
	t.Helper()
	ids, err := eventsIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
