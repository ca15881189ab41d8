package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/intake"
)

// machine is a log that was set up by itself, and its replica.
type machine struct {
	t   *testing.T
	log *eventlog.Log
	*Replica
	parked []Parked
}

func newMachine(t *testing.T, remote Remote) *machine {
	t.Helper()
	return newMachineOn(t, disk.OS, remote)
}

func newMachineOn(t *testing.T, fsys disk.FS, remote Remote) *machine {
	t.Helper()
	space := commitform.Space{Name: "team", ID: event.NewID(time.Now())}
	l, err := eventlog.Create(fsys, filepath.Join(t.TempDir(), "team.git"), space)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	m := &machine{t: t, log: l}
	m.Replica = New(Options{
		Log: l, Remote: remote, Name: "origin",
		Park: func(_ context.Context, p []Parked) error { m.parked = append(m.parked, p...); return nil },
	})
	return m
}

func (m *machine) save(texts ...string) []event.Event {
	m.t.Helper()
	var events []event.Event
	_, err := m.log.Append(context.Background(), func(eventlog.Head) ([]event.Event, error) {
		events = nil // it may be called again
		for _, text := range texts {
			e := eventtest.Note(text)
			e.Space, e.Classification = "team", event.Public
			events = append(events, eventtest.Signed(e, "laptop"))
		}
		return events, nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return events
}

// sync pulls, then pushes, and fails the test on any error.
func (m *machine) sync() (Pulled, Delivered) {
	m.t.Helper()
	p, err := m.Pull(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := m.Push(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	return p, d
}

func (m *machine) texts() []string {
	m.t.Helper()
	head, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	var all []string
	err = m.log.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		all = append(all, s.Event.Payload.Body())
		return s.Event.Verify()
	})
	if err != nil {
		m.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func (m *machine) head() plumbing.Hash {
	m.t.Helper()
	h, err := m.log.Head()
	if err != nil {
		m.t.Fatal(err)
	}
	return h.Commit
}

func (m *machine) has(want ...string) {
	m.t.Helper()
	if got := m.texts(); !slices.Equal(got, want) {
		m.t.Errorf("the log holds %q, want %q", got, want)
	}
}

// transports are the ways to reach a bare repository that the laws below hold
// for.
func transports(t *testing.T) map[string]func(dir string) Remote {
	all := map[string]func(string) Remote{
		"by path": func(dir string) Remote { return Path(disk.OS, dir) },
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("stock git is not installed: its server side was not tried")
		return all
	}
	all["through stock git"] = func(dir string) Remote {
		return &wireRemote{where: dir, open: func(ctx context.Context, service string) (stream, error) {
			return runGit(ctx, strings.TrimPrefix(service, "git-"), dir)
		}}
	}
	all["over HTTP"] = func(dir string) Remote { return overHTTP(t, serveGit(t, filepath.Dir(dir)).URL+"/"+filepath.Base(dir)) }
	return all
}

// process is a git service as a stream.
type process struct {
	io.WriteCloser
	io.Reader
	cmd *exec.Cmd
}

func runGit(ctx context.Context, service, dir string) (stream, error) {
	cmd := exec.CommandContext(ctx, "git", service, dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return process{in, out, cmd}, cmd.Start()
}

func (p process) Close() error { p.WriteCloser.Close(); return p.cmd.Wait() }
func (p process) ended(_ context.Context, doing string, err error) error {
	return offline(doing, err)
}

// bare is an empty repository whose HEAD stands for branch.
func bare(t *testing.T, branch string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	if err := gitstore.Init(disk.OS, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTwoMachinesSetUpApartShareEverything(t *testing.T) {
	for how, remote := range transports(t) {
		for _, branch := range []string{"main", "master"} {
			t.Run(how+" on "+branch, func(t *testing.T) {
				t.Parallel()
				dir := bare(t, branch)
				a, b := newMachine(t, remote(dir)), newMachine(t, remote(dir))
				a.save("a1", "a2")
				b.save("b1")

				if _, d := a.sync(); d.Events != 2 {
					t.Errorf("a pushed %d events", d.Events)
				}
				p, d := b.sync()
				if p.Events != 2 || d.Events != 1 {
					t.Errorf("b pulled %d and pushed %d events", p.Events, d.Events)
				}
				a.sync()
				a.has("a1", "a2", "b1")
				b.has("a1", "a2", "b1")
				if a.head() != b.head() || a.log.Space() != b.log.Space() {
					t.Errorf("the machines are not level: %s %v, %s %v", a.head(), a.log.Space(), b.head(), b.log.Space())
				}
				fsck(t, dir)
				fsck(t, b.log.Store().Dir())
			})
		}
	}
}

// A machine that takes on another identity leaves its former commits behind. Stock git may have written down their order
// and clean them away later, and nothing is damaged.
func TestNothingLeadsToTheHistoryThatWasLeft(t *testing.T) {
	t.Parallel()
	dir := bare(t, "main")
	a, b := newMachine(t, Path(disk.OS, dir)), newMachine(t, Path(disk.OS, dir))
	a.save("a1")
	a.sync()
	b.save("b1")
	home := b.log.Store().Dir()
	stockGit(t, home, "gc", "-q", "--prune=now")
	b.sync()
	stockGit(t, home, "repack", "-adq")
	stockGit(t, home, "prune", "--expire=now")
	fsck(t, home)
	b.has("a1", "b1")
}

func stockGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func fsck(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("stock git is not installed: fsck was not run")
		return
	}
	cmd := exec.Command("git", "fsck", "--strict", "--no-dangling")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git fsck in %s: %v\n%s", dir, err, out)
	}
}

func TestRacingMachinesConverge(t *testing.T) {
	for how, remote := range transports(t) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := bare(t, "main")
			race(t, newMachine(t, remote(dir)), newMachine(t, remote(dir)), newMachine(t, remote(dir)))
			fsck(t, dir)
		})
	}
}

// race lets machines save and sync in changing order, and requires that they
// become level.
func race(t *testing.T, machines ...*machine) {
	t.Helper()
	machines[0].sync()
	var want []string
	for round := range 4 {
		for i, m := range machines {
			text := fmt.Sprint(i, " in round ", round)
			want = append(want, text)
			m.save(text)
		}
		for i := range machines {
			machines[(i+round)%len(machines)].sync()
		}
	}
	for range machines { // the last to push has told nobody yet
		for _, m := range machines {
			m.sync()
		}
	}
	slices.Sort(want)
	for _, m := range machines {
		m.has(want...)
		if m.head() != machines[0].head() {
			t.Errorf("heads %s and %s", m.head(), machines[0].head())
		}
	}
}

func TestNothingIsSentTwice(t *testing.T) {
	for how, remote := range transports(t) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := bare(t, "main")
			sendsOnce(t, dir, newMachine(t, remote(dir)))
		})
	}
}

func sendsOnce(t *testing.T, dir string, a *machine) {
	t.Helper()
	a.save("one")
	a.sync()
	before := files(t, dir)
	p, d := a.sync()
	if p.Events != 0 || d.Events != 0 || !slices.Equal(before, files(t, dir)) {
		t.Errorf("a second sync pulled %d, pushed %d and left %v", p.Events, d.Events, files(t, dir))
	}
	if w, err := a.Waiting(context.Background()); w.Events != 0 || err != nil {
		t.Errorf("%d events wait, %v", w.Events, err)
	}
	a.save("two")
	if w, err := a.Waiting(context.Background()); w.Events != 1 || err != nil {
		t.Errorf("%d events wait, %v", w.Events, err)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAFolderBecomesARepositoryAtTheFirstPush(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new.git")
	a := newMachine(t, Path(disk.OS, dir))
	a.save("one")
	a.sync()
	b := newMachine(t, Path(disk.OS, dir))
	b.sync()
	b.has("one")
}

func TestAMissingDiskIsOfflineAndNotEmpty(t *testing.T) {
	a := newMachine(t, Path(disk.OS, filepath.Join(t.TempDir(), "not mounted", "x.git")))
	a.save("one")
	if _, err := a.Pull(context.Background()); !IsOffline(err) {
		t.Errorf("pull: %v", err)
	}
	if _, err := a.Push(context.Background()); !IsOffline(err) {
		t.Errorf("push: %v", err)
	}
	a.has("one")
}

// A disk that is taken out leaves the folder under which it was, and must not
// get a second history there, which the disk would not know when it is back.
func TestARemoteThatIsGoneIsOfflineUntilItIsForgotten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "remote.git")
	a := newMachine(t, Path(disk.OS, dir))
	a.save("one")
	a.sync()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	a.save("two")
	if _, err := a.Pull(context.Background()); !IsOffline(err) {
		t.Errorf("pull: %v", err)
	}
	if _, err := a.Push(context.Background()); !IsOffline(err) {
		t.Errorf("push: %v", err)
	}
	if err := a.Forget(); err != nil {
		t.Fatal(err)
	}
	a.sync()
	b := newMachine(t, Path(disk.OS, dir))
	b.sync()
	b.has("one", "two")
}

// Nothing new has to be saved before a remote that lost everything has it
// again.
func TestARemoteThatWasEmptiedIsFilledAgain(t *testing.T) {
	dir := bare(t, "main")
	for name, reach := range transports(t) {
		t.Run(name, func(t *testing.T) {
			a := newMachine(t, reach(dir))
			a.save("one", "two")
			a.sync()
			s, err := gitstore.Open(disk.OS, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			empty := func() {
				if err := os.Remove(filepath.Join(dir, "refs", "heads", "main")); err != nil {
					t.Fatal(err)
				}
			}
			defer empty()
			empty()
			if _, d := a.sync(); d.Events != 2 {
				t.Errorf("pushed %d events", d.Events)
			}
			b := newMachine(t, reach(dir))
			b.sync()
			b.has("one", "two")
		})
	}
}

func TestAnotherSpaceIsNotMixedIn(t *testing.T) {
	dir, other := bare(t, "main"), bare(t, "main")
	a, b := newMachine(t, Path(disk.OS, dir)), newMachine(t, Path(disk.OS, other))
	a.save("a")
	b.save("b")
	a.sync()
	b.sync()
	// b's remote is exchanged for a's after both have synced.
	b.Replica = New(Options{Log: b.log, Remote: Path(disk.OS, dir), Name: "origin"})
	_, err := b.Pull(context.Background())
	if _, ok := errors.AsType[*eventlog.ForeignError](err); !ok {
		t.Errorf("pull: %v", err)
	}
	b.has("b")
}

func TestARewrittenRemoteIsNotFollowed(t *testing.T) {
	dir := bare(t, "main")
	a := newMachine(t, Path(disk.OS, dir))
	a.save("one")
	a.sync()
	old := a.head()
	a.save("two")
	a.sync()
	s, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.UpdateRef(event.MainRef, a.head(), old); err != nil {
		t.Fatal(err)
	}
	_, err = a.Pull(context.Background())
	if _, ok := errors.AsType[*RewrittenError](err); !ok {
		t.Errorf("pull: %v", err)
	}
	a.has("one", "two")
}

// One who rewrites the remote may put a bad text under the id of a good event.
// It neither arrives nor takes the good one out of sight.
func TestARewrittenRemoteWithholdsNothing(t *testing.T) {
	dir := bare(t, "main")
	a := newMachine(t, Path(disk.OS, dir))
	a.save("one")
	a.sync()
	first := a.head()
	good := a.save("good")[0]
	a.sync()
	a.opt.Admit = badIsBad
	a.opt.Withhold = func(_ context.Context, w []Withheld) error {
		t.Errorf("withheld: %v", w)
		return nil
	}
	good.Payload = &event.Observe{Summary: "x", Content: "bad"}
	bad := eventtest.Signed(good, "mallory")
	for name, onto := range map[string]plumbing.Hash{"instead": first, "as another side": a.head()} {
		overwrite(t, dir, first, onto, bad)
		before := files(t, a.log.Store().Dir())
		if _, err := a.Pull(context.Background()); err == nil {
			t.Errorf("%s: pulled", name)
		}
		if after := files(t, a.log.Store().Dir()); name == "instead" && !slices.Equal(before, after) {
			t.Errorf("%s: left behind %v", name, after)
		}
	}
	a.has("good", "one")
}

// overwrite moves the remote's main to a commit that adds e to base, and joins
// it with join if that is another commit.
func overwrite(t *testing.T, dir string, base, join plumbing.Hash, e event.Event) {
	t.Helper()
	s, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	file, err := event.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	on, err := history.ReadCommit(s, base)
	if err != nil {
		t.Fatal(err)
	}
	blob := gitstore.NewObject(plumbing.BlobObject, file)
	tree, made, err := gittree.Insert(s, on.Tree, commitform.Path(e.ID), blob.Hash)
	if err != nil {
		t.Fatal(err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, base, commitform.HeadOf(e)))
	objects := append(made, blob, commit)
	if join != base {
		parents := []plumbing.Hash{commit.Hash, join}
		plumbing.HashesSort(parents)
		commit = gitstore.NewObject(plumbing.CommitObject, commitform.Merge(tree, parents[0], parents[1], on.Seconds))
		objects = append(objects, commit)
	}
	if _, err := s.WritePack(objects); err != nil {
		t.Fatal(err)
	}
	head, err := s.Head()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateRef(event.MainRef, head.Commit, commit.Hash); err != nil {
		t.Fatal(err)
	}
}

// tamper puts a commit on the remote's main that cairn would not make.
func tamper(t *testing.T, dir string) {
	t.Helper()
	s, err := gitstore.Open(disk.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, err := s.Head()
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Object(head.Commit)
	if err != nil {
		t.Fatal(err)
	}
	tree := plumbing.NewHash(string(c.Data[5:45]))
	blob := gitstore.NewObject(plumbing.BlobObject, []byte("hello"))
	root, made, err := gittree.Insert(s, tree, "hello.txt", blob.Hash)
	if err != nil {
		t.Fatal(err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nparent %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nhello\n", root, head.Commit))
	if _, err := s.WritePack(append(made, blob, commit)); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateRef(event.MainRef, head.Commit, commit.Hash); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsTakenFromATamperedRemote(t *testing.T) {
	dir := bare(t, "main")
	a, b := newMachine(t, Path(disk.OS, dir)), newMachine(t, Path(disk.OS, dir))
	a.save("one")
	a.sync()
	b.sync()
	tamper(t, dir)
	before := files(t, b.log.Store().Dir())
	_, err := b.Pull(context.Background())
	if _, ok := errors.AsType[*TamperedError](err); !ok {
		t.Errorf("pull: %v", err)
	}
	if after := files(t, b.log.Store().Dir()); !slices.Equal(before, after) {
		t.Errorf("left behind: %v", after)
	}
	b.has("one")
}

func badIsBad(e event.Event) []intake.Finding {
	if strings.Contains(e.Payload.Body(), "bad") {
		return []intake.Finding{{Rule: "no-bad", Field: "payload.content"}}
	}
	return nil
}

// What must not be seen is withheld before anybody could see it, or does not
// come in: a process that dies in between leaves nothing in sight.
func TestWhatTheMachineJudgesBadIsWithheldAndMerged(t *testing.T) {
	dir := bare(t, "main")
	a, b := newMachine(t, Path(disk.OS, dir)), newMachine(t, Path(disk.OS, dir))
	a.save("good", "bad")
	a.sync()
	b.opt.Admit = badIsBad
	b.opt.Withhold = func(context.Context, []Withheld) error { return io.ErrShortWrite }
	if _, err := b.Pull(context.Background()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("pull: %v", err)
	}
	b.has()
	var withheld []Withheld
	b.opt.Withhold = func(_ context.Context, w []Withheld) error {
		b.has()
		if has, err := b.log.Store().Has(a.head()); has || err != nil {
			t.Errorf("stored before it was withheld: %v, %v", has, err)
		}
		withheld = append(withheld, w...)
		return nil
	}
	p, err := b.Pull(context.Background())
	if err != nil || p.Events != 2 || len(withheld) != 1 || withheld[0].Rule != "no-bad" {
		t.Errorf("pulled %+v, %v, withheld %v", p, err, withheld)
	}
	b.has("bad", "good")
}

func TestAPushPastHooksIsRefused(t *testing.T) {
	dir := bare(t, "main")
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := newMachine(t, Path(disk.OS, dir))
	a.save("one")
	_, err := a.Push(context.Background())
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Errorf("push: %v", err)
	}
}

func TestAddressesOfPlainRemotes(t *testing.T) {
	for address, want := range map[string]sshAddress{
		"ssh://git@host/srv/x.git": {"git", "host:22", "/srv/x.git"},
		"ssh://host:2222/~/x.git":  {"", "host:2222", "/~/x.git"},
		"git@host:x.git":           {"git", "host:22", "x.git"},
		"host:team/x.git":          {"", "host:22", "team/x.git"},
		"ssh://git@[::1]:22/x":     {"git", "[::1]:22", "/x"},
	} {
		if got, err := parseSSH(address); err != nil || got != want {
			t.Errorf("%s is %+v, %v", address, got, err)
		}
	}
	for _, bad := range []string{"", "x", "ftp://host/x", "https://ana:hunter2@host/x", "ssh://ana:hunter2@host/x", "ssh://", "ssh://host", "ssh://host/", "@:", "-oProxy=x", `C:\x`} {
		r, err := Plain(disk.OS, bad)
		if err == nil {
			t.Errorf("%q is the remote %+v", bad, r)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a password is repeated: %v", err)
		}
	}
}

// A liar sends what no git would: a commit and the bytes of its tree.
type liar struct {
	t    *testing.T
	tree []byte
}

func (l liar) Push(context.Context, Offer) (Pushed, error) { return Pushed{}, ErrOffline }

func (l liar) Fetch(ctx context.Context, want Want) (plumbing.Hash, error) {
	s, err := gitstore.Open(disk.OS, bare(l.t, "main"))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	root := gitstore.NewObject(plumbing.TreeObject, l.tree)
	commit := gitstore.NewObject(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n\nx\n", root.Hash))
	var pack bytes.Buffer
	_, err = s.WritePack([]gitstore.Object{root, commit})
	if err == nil {
		err = s.EncodePack(&pack, []plumbing.Hash{root.Hash, commit.Hash})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	return commit.Hash, want.Receive(ctx, &pack)
}

// The trees of a remote are looked into before they are checked, to learn which space it is. What stands there does no
// harm.
func TestARemoteWithTreesOfNothing(t *testing.T) {
	for name, tree := range map[string][]byte{
		"an entry of nothing": append([]byte{0}, bytes.Repeat([]byte{7}, 20)...),
		"a cut entry":         []byte("100644 cairn.json"),
		"no entries":          nil,
	} {
		m := newMachine(t, liar{t, tree})
		m.save("mine")
		if _, err := m.Pull(t.Context()); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		m.has("mine")
	}
}
