package sshdoor_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/event/eventtest"
)

// A house is a running door, the members behind it, and what it logged.
type house struct {
	*sshdoor.Door
	addr    string
	host    gossh.PublicKey
	stop    context.CancelFunc
	stopped <-chan error
	log     *logBook

	mu      sync.Mutex
	members devices.Members
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

// opened starts a door at which the named devices are enrolled.
func opened(t *testing.T, limits sshdoor.Limits, handle func(context.Context, *sshdoor.Session) error, names ...string) *house {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return openedAt(t, l, limits, handle, names...)
}

// openedAt is opened with a listener of the caller's.
func openedAt(t *testing.T, l net.Listener, limits sshdoor.Limits, handle func(context.Context, *sshdoor.Session) error, names ...string) *house {
	t.Helper()
	hostKey, err := gossh.NewSignerFromKey(eventtest.Key("host"))
	if err != nil {
		t.Fatal(err)
	}
	h := &house{host: hostKey.PublicKey(), log: &logBook{}}
	for _, name := range names {
		h.enrol(t, name)
	}
	h.Door, err = sshdoor.New(sshdoor.Options{
		HostKey: hostKey, Lookup: h.lookup, Handle: handle, Limits: limits,
		Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() {
		stopped <- h.Serve(ctx, l)
		close(stopped) // so that a test may wait as well as the cleanup
	}()
	h.stop, h.stopped = cancel, stopped
	t.Cleanup(func() {
		cancel()
		select {
		case <-stopped:
		case <-time.After(30 * time.Second):
			t.Error("the door does not stop")
		}
	})
	return h
}

func public(name string) ed25519.PublicKey { return eventtest.Key(name).Public().(ed25519.PublicKey) }

func (h *house) enrol(t *testing.T, name string) {
	t.Helper()
	h.enrolFor(t, "ana", name)
}

func (h *house) enrolFor(t *testing.T, person string, names ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, name := range names {
		if err := h.members.Invite(public("invite "+name), person, nil, devices.Read, now, devices.DefaultTTL); err != nil {
			t.Fatal(err)
		}
		if _, err := h.members.Enrol(public("invite "+name), public(name), name, now); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *house) revoke(t *testing.T, name string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.members.Revoke(string(eventtest.Device(name)), time.Now()); err != nil {
		t.Fatal(err)
	}
}

func (h *house) lookup(key ed25519.PublicKey) (devices.Identity, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members.Lookup(key), nil
}

// A caller is one client connection and the banners it was shown.
type caller struct {
	*gossh.Client
	banners string
}

func (h *house) dial(auth ...gossh.AuthMethod) (*caller, error) {
	c := &caller{}
	client, err := gossh.Dial("tcp", h.addr, &gossh.ClientConfig{
		User: "git", Auth: auth, HostKeyCallback: gossh.FixedHostKey(h.host), Timeout: 30 * time.Second,
		BannerCallback: func(text string) error { c.banners += text; return nil },
	})
	c.Client = client
	return c, err
}

func signer(t *testing.T, name string) gossh.Signer {
	t.Helper()
	s, err := gossh.NewSignerFromKey(eventtest.Key(name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// as logs in with the key of that name.
func (h *house) as(t *testing.T, name string) *caller {
	t.Helper()
	c, err := h.dial(gossh.PublicKeys(signer(t, name)))
	if err != nil {
		t.Fatalf("log in as %s: %v\n%s", name, err, c.banners)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// run runs a command to its end.
func (c *caller) run(t *testing.T, line string) (stdout, stderr string, status int) {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr = &out, &errs
	err = s.Run(line)
	if exit, ok := err.(*gossh.ExitError); ok {
		return out.String(), errs.String(), exit.ExitStatus()
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return out.String(), errs.String(), 0
}

// sayWho answers every command with the device that the hub saw.
func sayWho(_ context.Context, s *sshdoor.Session) error {
	_, err := fmt.Fprint(s.Stream, s.Who.Device.Name)
	return err
}

// ends waits until the other side has closed the connection.
func ends(t *testing.T, r io.Reader) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection stays open")
	}
}

func wants(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}
