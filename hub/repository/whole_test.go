package repository_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
)

// asTheyAre says whether the hub would send its packs as they are.
func (h *hub) asTheyAre() bool {
	h.t.Helper()
	whole, err := h.team.AsTheyAre(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return whole
}

// cloned is the ids of all objects that a clone gets, sorted.
func (h *hub) cloned() []plumbing.Hash { return h.clonedBeside(nil) }

// clonedBeside is cloned with something that happens once the clone was shown the
// branch.
func (h *hub) clonedBeside(shown func()) []plumbing.Hash {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), "clone.git")
	if err := gitstore.Init(disk.OS, dir); err != nil {
		h.t.Fatal(err)
	}
	m := h.on(disk.OS, dir, "clone")
	m.shown = shown
	before := h.head()
	if head := m.fetch(); head != before {
		h.t.Fatalf("the clone has %s, the hub %s", head, before)
	}
	ids, err := m.store.IDs()
	if err != nil {
		h.t.Fatal(err)
	}
	return ids
}

// reachable is the ids of all objects that stock git finds from main and more
// refs, sorted.
func (h *hub) reachable(more ...string) []plumbing.Hash {
	h.t.Helper()
	args := append([]string{"-C", h.repo(), "rev-list", "--objects", "--no-object-names", event.MainRef}, more...)
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		h.t.Fatal(err)
	}
	var ids []plumbing.Hash
	for line := range strings.Lines(string(out)) {
		ids = append(ids, plumbing.NewHash(strings.TrimSpace(line)))
	}
	slices.SortFunc(ids, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

func needsGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine")
	}
}

// Whatever machines push, in whatever order, a clone gets just what the branch
// leads to, in the packs as they are.
func TestACloneGetsThePacksAsTheyAre(t *testing.T) {
	t.Parallel()
	needsGit(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			h := newHub(t, repository.Limits{})
			h.enrol("ben", devices.Write, "tower")
			machines := []*machine{h.clone("laptop"), h.clone("desktop"), h.clone("tower")}
			for range 12 {
				m := machines[r.IntN(len(machines))]
				for range 1 + r.IntN(3) {
					m.note(fmt.Sprint("note ", r.Uint64()))
				}
				if r.IntN(3) == 0 {
					m.pull()
				}
				m.push(repository.ForMain).mustBeTaken(t)
				if r.IntN(4) == 0 && !h.asTheyAre() {
					t.Error("the packs are not sent as they are")
				}
			}
			if !h.asTheyAre() {
				t.Error("the packs are not sent as they are")
			}
			if got, want := h.cloned(), h.reachable(); !slices.Equal(got, want) {
				t.Errorf("the clone has %d objects, main leads to %d", len(got), len(want))
			}
			h.fsck()
		})
	}
}

// A push that lands once a clone was shown the branch is no part of the clone.
func TestACloneGetsWhatItWasShown(t *testing.T) {
	t.Parallel()
	needsGit(t)
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("before")
	m.push(event.MainRef).mustBeTaken(t)
	want := h.reachable()
	got := h.clonedBeside(func() {
		m.note("meanwhile")
		m.push(event.MainRef).mustBeTaken(t)
	})
	if !slices.Equal(got, want) {
		t.Errorf("the clone has %d objects, main led to %d when it was shown", len(got), len(want))
	}
}

// What the branch does not lead to is never sent, wherever it comes from, and
// neither is anything missing then.
func TestWhatTheBranchDoesNotLeadToIsNotSent(t *testing.T) {
	t.Parallel()
	needsGit(t)
	stray := gitstore.NewObject(plumbing.BlobObject, []byte("left over"))
	for name, spoil := range map[string]func(*hub){
		"a push that ended halfway": func(h *hub) { h.put(stray) },
		"git has packed what was left over": func(h *hub) {
			h.put(stray)
			h.git("repack", "-d", "-k", "-a")
		},
		"git has put aside what was left over": func(h *hub) {
			h.put(stray)
			h.git("repack", "-a", "-d", "--cruft")
		},
		"an object lies in two packs": func(h *hub) { h.git("repack", "-a") },
		"objects lie in no pack": func(h *hub) {
			packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
			if err != nil {
				h.t.Fatal(err)
			}
			for _, p := range packs {
				h.unpack(p)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, repository.Limits{})
			m := h.clone("laptop")
			for i := range 3 {
				m.note(fmt.Sprint("note ", i))
				m.push(event.MainRef).mustBeTaken(t)
			}
			if !h.asTheyAre() {
				t.Error("the packs are not sent as they are to begin with")
			}
			spoil(h)
			if h.asTheyAre() {
				t.Error("the packs would be sent as they are")
			}
			if got, want := h.cloned(), h.reachable(); !slices.Equal(got, want) {
				t.Errorf("the clone has %d objects, main leads to %d", len(got), len(want))
			}
		})
	}
}

// A purge leaves packs that are sent as they are, with the record of it, and not
// before every pack with the event is gone.
func TestThePacksThatAPurgeLeavesAreSentAsTheyAre(t *testing.T) {
	t.Parallel()
	needsGit(t)
	l := newLeak(t)
	old := t.TempDir()
	if err := os.CopyFS(old, os.DirFS(filepath.Join(l.repo(), "objects", "pack"))); err != nil {
		t.Fatal(err)
	}
	asThey := func(when string) {
		t.Helper()
		if !l.asTheyAre() {
			t.Errorf("%s the packs are not sent as they are", when)
		}
		if got, want := l.cloned(), l.reachable(eventlog.EpochRef); !slices.Equal(got, want) {
			t.Errorf("%s the clone has %d objects, the refs lead to %d", when, len(got), len(want))
		}
	}
	l.purge(l.leaked.ID)
	asThey("after a purge")
	m := l.clone("laptop")
	e := m.note("after the purge")
	m.push(event.MainRef).mustBeTaken(t)
	asThey("after a push")
	l.purge(e.ID)
	asThey("after the second purge")
	l.hub.reopen()
	asThey("after a restart")
	if err := os.CopyFS(filepath.Join(l.repo(), "objects", "pack"), os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	if l.asTheyAre() {
		t.Error("packs from before the purge would be sent")
	}
	if got, want := l.cloned(), l.reachable(); !slices.Equal(got, want) {
		t.Errorf("the clone has %d objects, main leads to %d", len(got), len(want))
	}
}

// received is how many objects come to a client that says what it has.
func (h *hub) received(haves ...plumbing.Hash) int {
	h.t.Helper()
	conn, end := h.serve(h.fetching)
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		h.t.Fatal(err)
	}
	pack, err := gitwire.Fetch(h.t.Context(), conn, ad, gitwire.FetchRequest{
		Wants: []plumbing.Hash{ad.Refs[event.MainRef]}, Haves: haves,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	data, err := io.ReadAll(pack)
	if err := errors.Join(err, end()); err != nil {
		h.t.Fatal(err)
	}
	return int(binary.BigEndian.Uint32(data[8:])) // where a pack says how many
}

// A machine makes the first commit of a space by itself. That it has this one
// does not make the hub look for the others one by one.
func TestAMachineWithTheFirstCommitGetsThePacksAsTheyAre(t *testing.T) {
	t.Parallel()
	needsGit(t)
	h := newHub(t, repository.Limits{})
	first := h.head()
	m := h.clone("laptop")
	m.note("one")
	m.push(event.MainRef).mustBeTaken(t)
	second := h.head()
	m.note("two")
	m.push(event.MainRef).mustBeTaken(t)
	all := len(h.reachable())
	if n := h.received(first); n != all {
		t.Errorf("%d objects came, the packs hold %d", n, all)
	}
	if n := h.received(second); n >= all || n == 0 {
		t.Errorf("%d of %d objects came to a machine that has half of them", n, all)
	}
	if n := h.received(first, second); n >= all || n == 0 {
		t.Errorf("%d of %d objects came to a machine that has half of them", n, all)
	}
}

// A damaged pack is noticed while it is sent, and not sent again.
func TestADamagedPackIsNotSentTwice(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("a note")
	m.push(event.MainRef).mustBeTaken(t)
	if !h.asTheyAre() {
		t.Fatal("the packs are not sent as they are to begin with")
	}
	packs, err := filepath.Glob(filepath.Join(h.repo(), "objects", "pack", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, p := range packs {
		flip(t, p, 30)
	}
	conn, end := h.serve(h.fetching)
	ad, err := gitwire.ReadAdvert(conn)
	if err != nil {
		t.Fatal(err)
	}
	pack, err := gitwire.Fetch(t.Context(), conn, ad, gitwire.FetchRequest{Wants: []plumbing.Hash{ad.Refs[event.MainRef]}})
	if err == nil {
		_, err = io.Copy(io.Discard, pack)
	}
	if err == nil {
		t.Error("a damaged pack was sent as if it were whole")
	}
	conn.Close()
	if end() == nil {
		t.Error("the hub did not notice the damage")
	}
	if h.asTheyAre() {
		t.Error("the damaged pack would be sent again")
	}
}

// unpack makes loose objects of a pack.
func (h *hub) unpack(pack string) {
	h.t.Helper()
	data, err := os.ReadFile(pack)
	if err != nil {
		h.t.Fatal(err)
	}
	stem := strings.TrimSuffix(pack, ".pack")
	for _, ext := range []string{".pack", ".idx", ".keep"} {
		if err := os.Remove(stem + ext); err != nil && !os.IsNotExist(err) {
			h.t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "-C", h.repo(), "unpack-objects", "-q")
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("git unpack-objects: %v\n%s", err, out)
	}
}

func flip(t *testing.T, file string, at int64) {
	t.Helper()
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// Clones that are made while others push are whole, and hold nothing that was
// not taken.
func TestClonesAreWholeWhileOthersPush(t *testing.T) {
	t.Parallel()
	needsGit(t)
	h := newHub(t, repository.Limits{})
	h.enrol("ben", devices.Write, "tower")
	machines := []*machine{h.clone("laptop"), h.clone("tower")}
	var pushing sync.WaitGroup
	for _, m := range machines {
		pushing.Go(func() {
			for i := range 10 {
				m.note(fmt.Sprint(m.name, i))
				m.push(repository.ForMain).mustBeTaken(t)
			}
		})
	}
	for range 6 {
		h.clone("desktop")
	}
	pushing.Wait()
	if !h.asTheyAre() {
		t.Error("the packs are not sent as they are in the end")
	}
	if got, want := h.cloned(), h.reachable(); !slices.Equal(got, want) {
		t.Errorf("the clone has %d objects, main leads to %d", len(got), len(want))
	}
}

// A hub that starts again goes on counting from where it stood.
func TestACountOutlivesTheHub(t *testing.T) {
	t.Parallel()
	h := newHub(t, repository.Limits{})
	m := h.clone("laptop")
	m.note("a note")
	m.push(event.MainRef).mustBeTaken(t)
	if err := h.team.KeepCount(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := gitstore.Open(disk.OS, h.repo())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept, err := s.Counted()
	if err != nil || kept.Tip != h.head() || kept.Tally.Objects == 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
	h.reopen()
	if !h.asTheyAre() {
		t.Error("the packs are not sent as they are")
	}
}
