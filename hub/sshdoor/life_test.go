package sshdoor_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
)

func TestADeafConnectionIsClosed(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{KeepAlive: 20 * time.Millisecond}, sayWho, "laptop")
	asked := make(chan struct{}, 1)
	conn := h.raw(t, "laptop", func(*gossh.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
	})
	<-asked // and it is never answered
	done := make(chan struct{})
	go func() {
		_ = conn.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("a client that does not answer stays")
	}
}

func TestAQuietConnectionThatAnswersStays(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{KeepAlive: 300 * time.Millisecond}, sayWho, "laptop")
	asked := make(chan struct{}, 100)
	conn := h.raw(t, "laptop", func(r *gossh.Request) {
		// "Not known" is an answer too, and what OpenSSH says.
		if err := r.Reply(false, nil); err != nil {
			t.Error(err)
		}
		asked <- struct{}{}
	})
	for range 4 {
		<-asked
	}
	if _, _, err := conn.SendRequest("keepalive@openssh.com", true, nil); err != nil {
		t.Errorf("it was closed: %v", err)
	}
}

// raw logs in and leaves the hub's own requests to onRequest.
func (h *house) raw(t *testing.T, name string, onRequest func(*gossh.Request)) gossh.Conn {
	t.Helper()
	tcp, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	conn, _, reqs, err := gossh.NewClientConn(tcp, h.addr, &gossh.ClientConfig{
		User: "git", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer(t, name))}, HostKeyCallback: gossh.FixedHostKey(h.host),
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for r := range reqs {
			onRequest(r)
		}
	}()
	return conn
}

func TestRevokingCutsLiveConnections(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, untilCanceled, "laptop", "desktop")
	laptop, desktop := h.as(t, "laptop"), h.as(t, "desktop")
	for _, c := range []*caller{laptop, desktop} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start("watch team"); err != nil {
			t.Fatal(err)
		}
	}
	h.revoke(t, "laptop")
	// Even before the connection is cut, its next command is refused.
	_, stderr, status := laptop.run(t, "whoami")
	if status != 7 {
		t.Errorf("exit status %d", status)
	}
	wants(t, "stderr", stderr, hubwire.Fingerprint(public("laptop")), "was revoked")
	h.Recheck()
	_ = laptop.Wait()
	if _, _, err := desktop.SendRequest("keepalive@openssh.com", true, nil); err != nil {
		t.Errorf("the other device was cut as well: %v", err)
	}
}

func TestStoppingTellsEndlessSessionsAndLetsWorkFinish(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 2)
	finish := make(chan struct{})
	h := opened(t, sshdoor.Limits{Grace: time.Minute}, func(ctx context.Context, s *sshdoor.Session) error {
		begun <- struct{}{}
		if s.Command.Name == hubwire.CmdWatch {
			<-s.Stopping
			return nil
		}
		<-finish
		_, err := io.WriteString(s.Stream, "stored")
		return err
	}, "laptop")
	c := h.as(t, "laptop")
	watch, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start("watch team"); err != nil {
		t.Fatal(err)
	}
	push, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	push.Stdout = &out
	if err := push.Start("git-receive-pack 'team'"); err != nil {
		t.Fatal(err)
	}
	<-begun
	<-begun
	h.stop()
	if err := watch.Wait(); err != nil {
		t.Errorf("the watch ends with %v", err)
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("a new session starts while the door stops")
	}
	close(finish)
	if err := push.Wait(); err != nil || out.String() != "stored" {
		t.Errorf("the push ends with %q, %v", out.String(), err)
	}
	if err := <-h.stopped; err != nil {
		t.Errorf("Serve ends with %v", err)
	}
}

func TestStoppingDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	h := opened(t, sshdoor.Limits{Grace: 20 * time.Millisecond}, func(ctx context.Context, s *sshdoor.Session) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}, "laptop")
	s, err := h.as(t, "laptop").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("watch team"); err != nil {
		t.Fatal(err)
	}
	<-begun
	h.stop()
	if err := <-h.stopped; err != nil {
		t.Errorf("Serve ends with %v", err)
	}
}
