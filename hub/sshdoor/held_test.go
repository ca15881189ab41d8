package sshdoor_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// A counting listener knows how many of its connections are held by anybody, closed ones too.
type counting struct {
	net.Listener
	held atomic.Int64
}

type counted struct{ net.Conn }

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.held.Add(1)
	held := &counted{c}
	runtime.AddCleanup(held, func(n *atomic.Int64) { n.Add(-1) }, &l.held)
	return held, nil
}

// Whatever a connection was used for, nothing of it is held once it has ended, and no limit has to pass before.
func TestNothingIsHeldOfAConnectionThatHasEnded(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(*testing.T, *house){
		"one that says nothing": func(t *testing.T, h *house) {
			c, err := net.Dial("tcp", h.addr)
			if err == nil {
				err = c.Close()
			}
			if err != nil {
				t.Error(err)
			}
		},
		"a login": func(t *testing.T, h *house) { h.as(t, "laptop").Close() },
		"a command": func(t *testing.T, h *house) {
			c := h.as(t, "laptop")
			c.run(t, "whoami")
			c.Close()
		},
		"a session without a command": func(t *testing.T, h *house) {
			c := h.as(t, "laptop")
			if _, err := c.NewSession(); err != nil {
				t.Error(err)
			}
			c.Close()
		},
		"a push that is hung up on": func(t *testing.T, h *house) {
			c := h.as(t, "laptop")
			s, err := c.NewSession()
			if err == nil {
				err = s.Run("git-receive-pack 'team'")
			}
			if !problem.IsA[*gossh.ExitMissingError](err) {
				t.Error(err)
			}
			c.Close()
		},
		"a watch": func(t *testing.T, h *house) {
			c := h.as(t, "laptop")
			s, err := c.NewSession()
			if err == nil {
				err = s.Start("watch team")
			}
			if err != nil {
				t.Error(err)
			}
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tcp, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l := &counting{Listener: tcp}
			h := openedAt(t, l, sshdoor.Limits{Handshake: time.Hour, KeepAlive: time.Hour, Stall: time.Hour}, servePart, "laptop")
			use(t, h)
			eventually(t, func() bool { return h.Tally().Accepted > 0 && h.Tally().Open == 0 })
			eventually(t, func() bool { runtime.GC(); return l.held.Load() == 0 })
		})
	}
}

// servePart says who, hangs up on pushes, and lets everything else run until it is ended.
func servePart(ctx context.Context, s *sshdoor.Session) error {
	switch s.Command.Name {
	case hubwire.CmdWhoami:
		return sayWho(ctx, s)
	case sshdoor.ReceivePack:
		return s.Stream.CloseWith(problem.New(problem.Busy, "it takes too long"))
	}
	return untilCanceled(ctx, s)
}

// A client that never confirms the end of its sessions has no more of them than one that lets them run, and what it has
// sent to them is not kept.
func TestSessionsWhoseEndIsNotConfirmedAreFew(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	h.NobodyConfirms()
	c := h.as(t, "laptop")
	for i := range 17 {
		s, err := c.NewSession()
		if (err != nil) != (i == 16) {
			t.Fatalf("session %d: %v", i+1, err)
		}
		if err == nil {
			if out, err := s.Output("whoami"); err != nil || string(out) != "laptop" {
				t.Fatalf("%q, %v", out, err)
			}
		}
	}
	c.Close()
	if out, _, _ := h.as(t, "laptop").run(t, "whoami"); out != "laptop" {
		t.Errorf("on a new connection: %q", out)
	}
}

// A client may send to the other side's error stream too, where no command reads.
func TestWhatIsSentAsErrorsDoesNotPileUp(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, untilCanceled, "laptop")
	for _, line := range []string{"watch team", "git-receive-pack 'team'"} {
		c := h.as(t, "laptop")
		ch, requests, err := c.OpenChannel("session", nil)
		if err != nil {
			t.Fatal(err)
		}
		go gossh.DiscardRequests(requests)
		if ok, err := ch.SendRequest("exec", true, gossh.Marshal(struct{ Line string }{line})); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if _, err := ch.Stderr().Write(make([]byte, 1<<10)); err != nil {
			t.Errorf("%s: little: %v", line, err)
		}
		go func() { _, _ = io.Copy(ch.Stderr(), zeros{}) }() // until the connection ends
		ended := make(chan struct{})
		go func() { _ = c.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the connection stays open", line)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
