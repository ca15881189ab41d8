package replica

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/faultfs"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/purge"
	"cairn/sync/purge/purgetest"
)

// A purgingRemote is a repository on this machine whose purges are followed, as
// a hub's are.
type purgingRemote struct {
	*pathRemote
	key ed25519.PublicKey
}

var hubKey = eventtest.Key("hub")

func newPurgingRemote(dir string) *purgingRemote {
	return &purgingRemote{&pathRemote{disktest.Unsynced(disk.OS), dir}, hubKey.Public().(ed25519.PublicKey)}
}

func (p *purgingRemote) Signs(key ed25519.PublicKey) bool { return key.Equal(p.key) }

func (p *purgingRemote) Fetch(ctx context.Context, want Want) (head plumbing.Hash, err error) {
	err = p.with(want.Met, false, func(s *gitstore.Store) error {
		if s == nil {
			return nil
		}
		if _, head, err = p.branch(s); err != nil || head.IsZero() {
			return err
		}
		epoch, err := s.Ref(eventlog.EpochRef)
		if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return err
		}
		wants, err := want.list(head, epoch)
		if err != nil || len(wants) == 0 {
			return err
		}
		graph := history.New(s)
		if err := graph.Add(wants...); err != nil {
			return err
		}
		ids, err := history.NewObjects(ctx, s, graph, wants, want.Haves)
		if err != nil {
			return err
		}
		return transfer(ctx, func(w io.Writer) error { return s.EncodePack(w, ids) }, want.Receive)
	})
	return head, err
}

// purgeAt purges events at the remote as a hub does. spoil changes the record.
func purgeAt(t *testing.T, dir string, spoil func(*commitform.Purge), key ed25519.PrivateKey, ids ...event.ID) {
	t.Helper()
	log, err := eventlog.Open(disktest.Unsynced(disk.OS), dir, "team")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	store := log.Store()
	head, err := log.Head()
	if err != nil {
		t.Fatal(err)
	}
	to, err := purge.NewRewriter(store, ids).Head(t.Context(), head.Commit)
	if err != nil {
		t.Fatal(err)
	}
	records, err := log.Purges()
	if err != nil {
		t.Fatal(err)
	}
	p := commitform.Purge{
		Space: log.Space().ID, Epoch: len(records) + 1, At: event.NewTime(time.Now()),
		From: commitform.Hash(head.Commit), To: commitform.Hash(to),
	}
	for _, id := range ids {
		file, err := gittree.Lookup(store, head.Tree, commitform.Path(id))
		if err != nil {
			t.Fatal(err)
		}
		p.Events = append(p.Events, commitform.Purged{ID: id, Blob: commitform.Hash(file.Hash)})
	}
	if spoil != nil {
		spoil(&p)
	}
	p = p.Sign(key.Public().(ed25519.PublicKey), func(b []byte) []byte { return ed25519.Sign(key, b) })
	previous, err := log.EpochCommit()
	if err != nil {
		t.Fatal(err)
	}
	record, objects, err := purge.Write(p, previous)
	if err == nil {
		_, err = store.WritePack(objects)
	}
	if err == nil {
		err = store.SetPending()
	}
	if err == nil {
		err = store.UpdateRef(eventlog.EpochRef, previous, record)
	}
	if err == nil {
		err = store.UpdateRef(event.MainRef, head.Commit, plumbing.Hash(p.To))
	}
	if err == nil && spoil == nil {
		_, err = log.Expunge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// word is one that stands nowhere by chance.
func word() string { return fmt.Sprintf("zq%016x", rand.Uint64()) }

// A leak is a remote with an event that has to go, and a machine that has it and
// an event that it has not sent.
type leak struct {
	dir    string
	secret string
	leaked event.Event
	m      *machine
	unsent event.Event
}

func newLeak(t *testing.T) *leak {
	t.Helper()
	return newLeakOn(t, disktest.Unsynced(disk.OS))
}

// newLeakOn makes a leak whose machine is on a disk of its own.
func newLeakOn(t *testing.T, fsys disk.FS) *leak {
	t.Helper()
	l := &leak{dir: filepath.Join(t.TempDir(), "remote.git"), secret: word()}
	l.m = newMachineOn(t, fsys, newPurgingRemote(l.dir))
	l.m.save("a before")
	l.m.sync()
	other := newMachineOn(t, disktest.Unsynced(disk.OS), newPurgingRemote(l.dir))
	other.sync()
	l.leaked = l.m.save("the code is " + l.secret)[0]
	l.m.save("c after")
	l.m.sync()
	other.save("b beside")
	other.sync()
	l.m.sync()
	l.unsent = l.m.save("d unsent")[0]
	return l
}

func (l *leak) folder() string { return l.m.log.Store().Dir() }

func TestAReplicaFollowsAPurge(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	if len(purgetest.Traces(t, l.folder(), l.secret)) == 0 {
		t.Fatal("the search does not find the word in the first place")
	}
	before := l.m.head()
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	p, d := l.m.sync()
	if p.Events != 0 || d.Events != 1 {
		t.Errorf("it pulled %+v and pushed %+v", p, d)
	}
	l.m.has("a before", "b beside", "c after", "d unsent")
	if found := purgetest.Traces(t, l.folder(), l.secret); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
	if has, err := l.m.log.Store().Has(before); err != nil || has {
		t.Errorf("the old head is there: %v, %v", has, err)
	}
	if _, err := l.m.log.Append(t.Context(), func(eventlog.Head) ([]event.Event, error) { return []event.Event{l.leaked}, nil }); !isType[*purge.PurgedError](err) {
		t.Errorf("the log takes it again: %v", err)
	}
	l.m.sync()
	fsck(t, l.folder())
	fsck(t, l.dir)
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Only the hub makes purges, and each goes on from the one before.
func TestAPurgeThatIsNotTheHubsIsNotFollowed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spoil func(*commitform.Purge)
		key   ed25519.PrivateKey
		fits  func(error) bool
	}{
		"somebody else's key":      {nil, eventtest.Key("mallory"), isType[*purge.RecordError]},
		"of another space":         {func(p *commitform.Purge) { p.Space = event.NewID(time.Now()) }, hubKey, isType[*purge.RecordError]},
		"out of turn":              {func(p *commitform.Purge) { p.Epoch = 2 }, hubKey, isType[*purge.RecordError]},
		"the event is still there": {func(p *commitform.Purge) { p.To = p.From }, hubKey, isType[*PurgedError]},
	}
	for name, c := range cases {
		l := newLeak(t)
		before := l.m.texts()
		purgeAt(t, l.dir, c.spoil, c.key, l.leaked.ID)
		_, err := l.m.Pull(t.Context())
		if !c.fits(err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := l.m.texts(); !slices.Equal(got, before) {
			t.Errorf("%s: the log holds %q", name, got)
		}
	}
}

// A hub that was restored from before a purge is not followed back.
func TestAPurgeIsNotUndone(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	old := filepath.Join(t.TempDir(), "old.git")
	if err := os.CopyFS(old, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	l.m.sync()
	if err := errors.Join(os.RemoveAll(l.dir), os.Rename(old, l.dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.m.Pull(t.Context()); !isType[*RewrittenError](err) && !isType[*PurgedError](err) {
		t.Errorf("it is followed back: %v", err)
	}
	l.m.has("a before", "b beside", "c after", "d unsent")
	if found := purgetest.Traces(t, l.folder(), l.secret); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

// A machine that dies, or loses power, at any step of following a purge has
// every event of its own at every moment, and the next pull finishes it.
func TestAMachineThatDiesWhileItFollowsAPurge(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	step := 13
	if os.Getenv("CAIRN_LONG_TESTS") != "" {
		step = 1
	}
	for n := 1; ; n += step {
		if !l.dieAt(t, n) {
			if n < 20 {
				t.Errorf("a purge is followed in only %d steps, so little was tried", n)
			}
			return
		}
	}
}

func (l *leak) dieAt(t *testing.T, n int) (died bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "team.git")
	if err := os.CopyFS(dir, os.DirFS(l.folder())); err != nil {
		t.Fatal(err)
	}
	fsys, err := faultfs.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(fsys, dir, "team")
	if err != nil {
		t.Fatal(err)
	}
	fsys.DieAt(n)
	_, err = New(Options{Log: log, Remote: newPurgingRemote(l.dir), Name: "origin"}).Pull(t.Context())
	died = err != nil
	// A dying machine cannot release its files in order.
	_ = log.Close()
	l.wakeUp(t, fmt.Sprintf("killed at step %d", n), dir)
	for _, lost := range []faultfs.Contents{faultfs.Kept, faultfs.Lost} {
		after := filepath.Join(t.TempDir(), "after.git")
		if err := fsys.Crash(after, faultfs.Survival{Names: fsys.Unsynced() / 2, Contents: lost}); err != nil {
			t.Fatal(err)
		}
		purgetest.Boot(t, after)
		l.wakeUp(t, fmt.Sprintf("without power at step %d", n), after)
	}
	return died
}

func (l *leak) wakeUp(t *testing.T, when, dir string) {
	t.Helper()
	log, err := eventlog.Open(disktest.Unsynced(disk.OS), dir, "team")
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer log.Close()
	m := &machine{t: t, log: log, Replica: New(Options{Log: log, Remote: newPurgingRemote(l.dir), Name: "origin"})}
	if got := m.texts(); !slices.Contains(got, "d unsent") || !slices.Contains(got, "a before") {
		t.Fatalf("%s the log holds %q", when, got)
	}
	if _, err := m.Pull(t.Context()); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if _, err := log.Expunge(t.Context()); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if got := m.texts(); !slices.Equal(got, []string{"a before", "b beside", "c after", "d unsent"}) {
		t.Fatalf("%s the log holds in the end %q", when, got)
	}
	if found := purgetest.Traces(t, dir, l.secret); len(found) > 0 {
		t.Fatalf("%s: %v", when, found)
	}
}

// A stuck disk removes no pack while it is told not to.
type stuck struct {
	disk.FS
	now bool
}

var errStuck = errors.New("the file cannot be removed")

func (s *stuck) RemoveAll(name string) error {
	if s.now && filepath.Ext(name) == ".pack" {
		return errStuck
	}
	return s.FS.RemoveAll(name)
}

// Until what was purged has left the disk, a remote that still ends where the
// log once was sends nothing: all of its history is stored. It is not taken.
func TestAPurgeIsNotUndoneByWhatIsStillStored(t *testing.T) {
	t.Parallel()
	fsys := &stuck{FS: disktest.Unsynced(disk.OS)}
	l := newLeakOn(t, fsys)
	backup := filepath.Join(t.TempDir(), "backup.git")
	if err := os.CopyFS(backup, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	fsys.now = true
	if _, err := l.m.Pull(t.Context()); !errors.Is(err, errStuck) {
		t.Fatalf("the disk was to be stuck: %v", err)
	}
	if left, err := l.m.log.Leftovers(); err != nil || len(left) == 0 {
		t.Fatalf("what was purged is to be stored still: %v, %v", left, err)
	}
	followed := l.m.head()
	from := New(Options{Log: l.m.log, Remote: Path(fsys, backup), Name: "backup"})
	if _, err := from.Pull(t.Context()); !isType[*PurgedError](err) {
		t.Errorf("it is followed back: %v", err)
	}
	if now := l.m.head(); now != followed {
		t.Errorf("the branch has moved from %s to %s", followed, now)
	}
	fsys.now = false
	if _, err := l.m.log.Expunge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := purgetest.Traces(t, l.folder(), l.secret); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

// A duringFetch is a remote while whose answer is under way something happens.
type duringFetch struct {
	Remote
	meanwhile func()
}

func (d *duringFetch) Fetch(ctx context.Context, want Want) (plumbing.Hash, error) {
	head, err := d.Remote.Fetch(ctx, want)
	d.meanwhile()
	return head, err
}

// Only a purge that somebody else has followed is a reason to try again.
func TestAnUnreadableEpochIsNoLostRace(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	l.m.sync()
	garble := func() {
		file := filepath.Join(l.folder(), filepath.FromSlash(eventlog.EpochRef))
		if err := os.WriteFile(file, []byte("garbled"), 0o644); err != nil {
			t.Error(err)
		}
	}
	during := &duringFetch{newPurgingRemote(l.dir), garble}
	_, err := New(Options{Log: l.m.log, Remote: during, Name: "origin"}).Pull(t.Context())
	if !isType[*gitstore.GarbledRefError](err) || errors.Is(err, ErrRaced) {
		t.Errorf("the pull ends with %v", err)
	}
}

// What is purged while a remote that knows nothing of it is asked for what is
// missing does not come back with the answer.
func TestWhatIsPurgedDuringARefillStaysGone(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	backup := filepath.Join(t.TempDir(), "backup.git")
	if err := os.CopyFS(backup, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	tracked, err := l.m.tracked()
	if err != nil {
		t.Fatal(err)
	}
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	during := &duringFetch{Path(disktest.Unsynced(disk.OS), backup), func() { l.m.sync() }}
	if err := Refill(t.Context(), l.m.log.Store(), during, []plumbing.Hash{tracked}); !errors.Is(err, ErrLacking) {
		t.Errorf("the refill ends with %v", err)
	}
	if found := purgetest.Traces(t, l.folder(), l.secret); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}

// Who keeps word of an event, such as that it must not be seen, hears that it is
// gone when the log has it no more, and is told again until that has worked.
func TestAPurgeIsToldWhenTheLogHasFollowed(t *testing.T) {
	t.Parallel()
	l := newLeak(t)
	purgeAt(t, l.dir, nil, hubKey, l.leaked.ID)
	told, failed := 0, errors.New("the list cannot be written")
	l.m.opt.Purged = func(_ context.Context, gone *purge.Set) error {
		told++
		if !gone.Has(l.leaked.ID) || gone.Len() != 1 {
			t.Errorf("told of %d events", gone.Len())
		}
		l.m.has("a before", "b beside", "c after", "d unsent")
		if told == 1 {
			return failed
		}
		return nil
	}
	if _, err := l.m.Pull(t.Context()); !errors.Is(err, failed) {
		t.Errorf("the pull ends with %v", err)
	}
	l.m.sync()
	l.m.sync()
	if told != 2 {
		t.Errorf("it was told %d times", told)
	}
	if found := purgetest.Traces(t, l.folder(), l.secret); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
}
