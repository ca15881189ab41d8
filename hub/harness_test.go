package hub_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/hub"
	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
)

// A house is a serving hub.
type house struct {
	*hub.Hub
	t    *testing.T
	dir  string
	addr string
	log  *logBook
	stop func() error
}

type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// open makes a hub with the shared space "team" and serves it.
func open(t *testing.T, o hub.Options) *house {
	t.Helper()
	h := &house{t: t, dir: filepath.Join(t.TempDir(), "hub"), log: &logBook{}}
	if _, err := hub.Init(context.Background(), h.dir); err != nil {
		t.Fatal(err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if o.Door.Grace == 0 {
		o.Door.Grace = 200 * time.Millisecond
	}
	if o.Pushes.Rest == 0 {
		o.Pushes.Rest = time.Hour // on a slow machine it would tidy up between two looks at its files
	}
	var err error
	if h.Hub, err = hub.Open(h.dir, o); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Admin().CreateSpace(context.Background(), admin.Caller{}, "team"); err != nil {
		t.Fatal(err)
	}
	h.serve()
	return h
}

func (h *house) serve() {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	// The version line says that the hub serves.
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 7)); err != nil {
		h.t.Fatal(err)
	}
	c.Close()
	h.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return errors.Join(err, h.Close())
		case <-time.After(30 * time.Second):
			return errors.New("the hub does not stop")
		}
	})
	h.t.Cleanup(func() {
		if err := h.stop(); err != nil {
			h.t.Error(err)
		}
	})
}

// invite makes an invite on the hub's machine.
func (h *house) invite(person string, role devices.Role, spaces ...string) string {
	h.t.Helper()
	i, err := h.Admin().Invite(context.Background(), admin.Caller{}, admin.InviteRequest{Person: person, Spaces: spaces, Role: role, Addr: h.addr})
	if err != nil {
		h.t.Fatal(err)
	}
	return i.Invite
}

func privateKey(name string) ed25519.PrivateKey { return eventtest.Key(name) }

func keyOf(name string) device.Key { return device.FromPrivate(privateKey(name)) }

// member invites a person and enrols a device of that name for them.
func (h *house) member(person string, role devices.Role, name string, spaces ...string) {
	h.t.Helper()
	if _, err := h.join(h.invite(person, role, spaces...), name); err != nil {
		h.t.Fatal(err)
	}
}

const rosterFile = "roster.json"

// files is every file of the hub but its audit log, with a hash of its bytes.
func (h *house) files() map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for path, data := range h.bytes() {
		// The list of devices follows from the members, when it is asked for.
		if !strings.Contains(path, "audit") && !strings.HasSuffix(path, ".lock") && filepath.Base(path) != rosterFile {
			all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	return all
}

// atRest is files once no session writes any more: a client may have its answer
// a moment before the hub has cleared away.
func (h *house) atRest() map[string]string {
	h.t.Helper()
	last := h.files()
	for range 50 {
		time.Sleep(10 * time.Millisecond)
		next := h.files()
		if maps.Equal(last, next) {
			return next
		}
		last = next
	}
	h.t.Fatal("the hub's files do not come to rest")
	return nil
}

// differing are the paths that are not the same in both.
func differing(a, b map[string]string) []string {
	var paths []string
	for path := range a {
		if a[path] != b[path] {
			paths = append(paths, path)
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// bytes is every file of the hub. It looks again when one went away meanwhile:
// the hub writes its audit events beside.
func (h *house) bytes() map[string][]byte {
	h.t.Helper()
	for range 20 {
		all, err := h.lookAtFiles()
		if err == nil {
			return all
		}
		if !errors.Is(err, fs.ErrNotExist) {
			h.t.Fatal(err)
		}
	}
	h.t.Fatal("the hub's files do not come to rest")
	return nil
}

func (h *house) lookAtFiles() (map[string][]byte, error) {
	all := map[string][]byte{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	return all, err
}

// noTraceOf fails if any file of the hub, or its log, holds the text.
func (h *house) noTraceOf(secret string) {
	h.t.Helper()
	for path, data := range h.bytes() {
		if bytes.Contains(data, []byte(secret)) {
			h.t.Errorf("%s holds the secret", path)
		}
	}
	if strings.Contains(h.log.String(), secret) {
		h.t.Error("the log holds the secret")
	}
}

// note is a signed event of the device for the space.
func note(space, device, text string) event.Event {
	e := eventtest.Note(text)
	e.Space = space
	if space != "personal" {
		e.Classification = event.Public
	}
	return eventtest.Signed(e, device)
}

func wants(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
