package sshdoor_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/sshdoor"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

func TestTheDoorGivesNothingButItsCommands(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	c := h.as(t, "laptop")
	for name, ask := range map[string]func(*gossh.Session) error{
		"a shell":     func(s *gossh.Session) error { return s.Shell() },
		"a terminal":  func(s *gossh.Session) error { return s.RequestPty("xterm", 24, 80, nil) },
		"a subsystem": func(s *gossh.Session) error { return s.RequestSubsystem("sftp") },
		"a variable":  func(s *gossh.Session) error { return s.Setenv("GIT_PROTOCOL", "version=2") },
		"an agent": func(s *gossh.Session) error {
			ok, err := s.SendRequest("auth-agent-req@openssh.com", true, nil)
			if err == nil && !ok {
				err = errors.New("refused")
			}
			return err
		},
	} {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := ask(s); err == nil {
			t.Errorf("%s is given", name)
		}
		s.Close()
	}
	if _, err := c.Dial("tcp", h.addr); err == nil {
		t.Error("a connection is forwarded")
	}
	if l, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close()
		t.Error("a port is forwarded")
	}
	if out, _, status := c.run(t, "whoami"); out != "laptop" || status != 0 {
		t.Errorf("and then whoami says %q, %d", out, status)
	}
	for _, line := range []string{"bash", "sh -c 'id'", "git-upload-archive 'team'", "git gc", "whoami; id", "scp -t /"} {
		if _, stderr, status := c.run(t, line); status != 2 || strings.Contains(stderr, "bash") {
			t.Errorf("%s: exit status %d: %s", line, status, stderr)
		}
	}
}

func TestAnErrorIsToldAsLinesAndAsJSON(t *testing.T) {
	t.Parallel()
	const inner = "disk /srv/hub is on fire"
	told := &problem.Problem{Code: problem.NotFound, Message: "no such space", Hint: "list them"}
	h := opened(t, sshdoor.Limits{}, func(_ context.Context, s *sshdoor.Session) error {
		if s.Command.Name == hubwire.CmdWhoami {
			return fmt.Errorf("look: %w", told)
		}
		return errors.New(inner)
	}, "laptop")
	c := h.as(t, "laptop")
	out, stderr, status := c.run(t, "whoami")
	var f hubwire.Failure
	if err := json.Unmarshal([]byte(out), &f); err != nil || f.Error.Code != problem.NotFound || status != 3 {
		t.Errorf("got %q, exit status %d, %v", out, status, err)
	}
	wants(t, "stderr", stderr, "cairn: no such space\ncairn: list them\n")

	out, stderr, status = c.run(t, "git-upload-pack 'team'")
	if out != "" || status != 1 || strings.Contains(stderr, inner) {
		t.Errorf("git gets %q and %q, exit status %d", out, stderr, status)
	}
	wants(t, "the log", h.log.String(), inner)
}

func TestAPanicEndsOneCommandAndSaysNothing(t *testing.T) {
	t.Parallel()
	secret := "the text " + "of a note"
	h := opened(t, sshdoor.Limits{}, func(_ context.Context, s *sshdoor.Session) error {
		if s.Command.Name == hubwire.CmdSpaces {
			panic(secret)
		}
		return sayWho(context.Background(), s)
	}, "laptop")
	c := h.as(t, "laptop")
	out, stderr, status := c.run(t, "spaces")
	if status != 1 || strings.Contains(out+stderr+h.log.String(), secret) {
		t.Errorf("exit status %d, out %q, stderr %q", status, out, stderr)
	}
	wants(t, "the log", h.log.String(), "panicked", "session_test.go")
	if out, _, _ := c.run(t, "whoami"); out != "laptop" {
		t.Errorf("the next command says %q", out)
	}
}

func TestTheSeventeenthSessionIsRefused(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, untilCanceled, "laptop")
	c := h.as(t, "laptop")
	var open []*gossh.Session
	for range 16 {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start("watch team"); err != nil {
			t.Fatal(err)
		}
		open = append(open, s)
	}
	_, err := c.NewSession()
	refused, ok := err.(*gossh.OpenChannelError)
	if !ok || refused.Reason != gossh.ResourceShortage {
		t.Fatalf("the next one: %v", err)
	}
	open[0].Close()
	eventually(t, func() bool {
		s, err := c.NewSession()
		if err == nil {
			s.Close()
		}
		return err == nil
	})
}

func untilCanceled(ctx context.Context, s *sshdoor.Session) error {
	<-ctx.Done()
	return nil
}

// eventually waits for a condition, not for a time.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it never came to be")
}

// A watch without input sends the end of its input at once.
func TestTheEndOfInputIsNotTheEndOfASession(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	h := opened(t, sshdoor.Limits{}, func(ctx context.Context, s *sshdoor.Session) error {
		if _, err := io.Copy(io.Discard, s.Stream); err != nil {
			return err
		}
		fmt.Fprintln(s.Stream, "input ended")
		select {
		case <-goOn:
			fmt.Fprintln(s.Stream, "still here")
		case <-ctx.Done():
		}
		return nil
	}, "laptop")
	s, err := h.as(t, "laptop").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	s.Stdin = strings.NewReader("")
	pipe, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("watch team"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	if !lines.Scan() || lines.Text() != "input ended" {
		t.Fatalf("first %q", lines.Text())
	}
	close(goOn)
	if !lines.Scan() || lines.Text() != "still here" {
		t.Fatalf("then %q", lines.Text())
	}
}

func TestClosingASessionEndsItsContext(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	h := opened(t, sshdoor.Limits{}, func(ctx context.Context, s *sshdoor.Session) error {
		fmt.Fprintln(s.Stream, "running")
		<-ctx.Done()
		close(ended)
		return nil
	}, "laptop")
	c := h.as(t, "laptop")
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("watch team"); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(pipe).Scan() {
		t.Fatal("the command does not run")
	}
	s.Close()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the command runs on")
	}
}

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
