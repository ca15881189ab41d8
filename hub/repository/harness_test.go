package repository_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/repository"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/intake"
)

// forbidden is what the hub of these tests takes for a secret.
var forbidden = strings.Join([]string{"open", "sesame"}, "-")

// A hub is a set of repositories with the space "team" and some members.
type hub struct {
	t       testing.TB
	dir     string
	set     *repository.Set
	team    *repository.Repository
	members *devices.Members
	lie     *plumbing.Hash    // what clients of stock git say that main was, if not the truth
	stock   []string          // arguments of stock git, if pushes go by way of it and the hook
	limits  repository.Limits // after reopen
}

func newHub(t testing.TB, limits repository.Limits) *hub {
	t.Helper()
	h := &hub{t: t, dir: t.TempDir(), members: &devices.Members{}}
	h.set = repository.NewSet(disk.OS, h.dir, limits, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := h.set.Close(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if h.team, err = h.set.Create("team", time.Now()); err != nil {
		t.Fatal(err)
	}
	h.enrol("ana", devices.Write, "laptop", "desktop")
	return h
}

func (h *hub) enrol(person string, role devices.Role, names ...string) {
	h.t.Helper()
	for _, name := range names {
		key, device := eventtest.Key("i "+name).Public(), eventtest.Key(name).Public()
		err := h.members.Invite(public(key), person, []string{"team"}, role, time.Now(), devices.DefaultTTL)
		if err == nil {
			_, err = h.members.Enrol(public(key), public(device), name, time.Now())
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

// repo is where the tests look without asking the hub.
func (h *hub) repo() string { return filepath.Join(h.dir, "spaces", "team.git") }

// scan looks for the one secret there is.
func scan(text []byte, field string) []intake.Finding {
	if bytes.Contains(text, []byte(forbidden)) {
		return []intake.Finding{{Rule: "secret", Field: field}}
	}
	return nil
}

func scanEvent(e event.Event) []intake.Finding {
	b, err := event.Unsigned(e)
	if err != nil {
		return []intake.Finding{{Rule: err.Error()}}
	}
	return scan(b, "payload.content")
}

func scanRaw(_ plumbing.ObjectType, b []byte) []intake.Finding { return scan(b, "raw") }

// pusher judges as the real hub does, with one secret instead of many.
func (h *hub) pusher(device string) repository.Pusher {
	a := gate.Admission{
		Origin: gate.Members(h.members, "team", ""), Now: time.Now(),
		Decide: scanEvent,
	}
	return repository.Pusher{
		Device: eventtest.Device(device), Person: h.personOf(device),
		Judge: func() (repository.Judge, error) { return repository.Judge{Admit: a.Admit, Raw: scanRaw}, nil },
	}
}

func (h *hub) personOf(device string) string {
	d, ok := h.members.Device(eventtest.Device(device))
	if !ok {
		h.t.Fatalf("%s is not enrolled", device)
	}
	return d.Person
}

// files is every file in the hub's folder with a hash of its bytes.
func (h *hub) files() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		// A lock file says who held it last; it is no part of the repository.
		if filepath.Ext(path) != ".lock" {
			all[path] = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

func (h *hub) head() plumbing.Hash {
	h.t.Helper()
	refs, err := h.team.Refs(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return refs[event.MainRef]
}

// events are the ids in the hub's main, read from the disk.
func (h *hub) events() []event.ID {
	h.t.Helper()
	log, err := eventlog.Open(disk.OS, h.repo(), "team")
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	return eventsOf(h.t, log)
}

func eventsOf(t testing.TB, log *eventlog.Log) []event.ID {
	t.Helper()
	head, err := log.Head()
	if err != nil {
		t.Fatal(err)
	}
	var ids []event.ID
	err = log.Added(context.Background(), plumbing.ZeroHash, head.Tree, func(s eventlog.Stored) error {
		ids = append(ids, s.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

// fsck has stock git judge the hub's repository.
func (h *hub) fsck() {
	h.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		h.t.Log("SKIPPED: no git on this machine, so fsck was not run")
		return
	}
	out, err := exec.Command(git, "-C", h.repo(), "fsck", "--strict", "--full").CombinedOutput()
	if err != nil || strings.Contains(string(out), "dangling") {
		h.t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// A wire is the hub's end of a session.
type wire struct {
	net.Conn
	told error // why it was closed; not to be read before the session has ended
	once sync.Once
}

func (w *wire) CloseWith(err error) error {
	w.once.Do(func() { w.told = err })
	return w.Close()
}

// serve runs one session of the hub and returns the client's end of it.
func (h *hub) serve(run func(context.Context, hubwire.Stream) error) (net.Conn, func() error) {
	client, server := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- errors.Join(run(context.Background(), &wire{Conn: server}), server.Close())
	}()
	return client, func() error {
		defer client.Close()
		select {
		case err := <-ended:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("the hub does not end the session")
		}
	}
}

// fetching is a session that fetches.
func (h *hub) fetching(ctx context.Context, rw hubwire.Stream) error {
	return h.team.ServeFetch(ctx, rw, nil)
}

// reopen ends the hub and starts it again.
func (h *hub) reopen() {
	h.t.Helper()
	if err := h.set.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.set = repository.NewSet(disk.OS, h.dir, h.limits, slog.New(slog.DiscardHandler))
	var err error
	if h.team, err = h.set.Shared("team"); err != nil {
		h.t.Fatal(err)
	}
}

// git runs stock git in the hub's repository.
func (h *hub) git(args ...string) {
	h.t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", h.repo()}, args...)...).CombinedOutput(); err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// put stores objects in the hub's repository, past the hub.
func (h *hub) put(objects ...gitstore.Object) {
	h.t.Helper()
	s, err := gitstore.Open(disk.OS, h.repo())
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = s.WritePack(objects)
	if err := errors.Join(err, s.Close()); err != nil {
		h.t.Fatal(err)
	}
}
