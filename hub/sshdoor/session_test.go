package sshdoor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
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

// A client that takes nothing, neither on its output nor on its stderr, does
// not keep a command for itself.
func TestACommandEndsWhoseAnswerIsNotTaken(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	h := opened(t, sshdoor.Limits{Stall: 50 * time.Millisecond}, func(_ context.Context, s *sshdoor.Session) error {
		if s.Command.Name == hubwire.CmdWhoami {
			return &problem.Problem{Code: problem.Failed, Message: strings.Repeat("no ", 2<<20)}
		}
		for {
			if _, err := s.Stream.Write(make([]byte, 64<<10)); err != nil {
				ended <- err
				return err
			}
		}
	}, "laptop")
	for _, line := range []string{"spaces", "whoami"} {
		c := h.as(t, "laptop")
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		// Without readers the client's side never makes its window wider.
		out, err := s.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr, err := s.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(line); err != nil {
			t.Fatal(err)
		}
		if line == "spaces" {
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("the hub still writes")
			}
		}
		if err := waitFor(s); err == nil {
			t.Errorf("%s ended as if it was read", line)
		}
		ends(t, out)
		ends(t, stderr)
	}
}

// A numb connection can be told to hear nothing any more.
type numb struct {
	net.Conn
	now atomic.Bool
}

func (n *numb) Read(b []byte) (int, error) {
	k, err := n.Conn.Read(b)
	for n.now.Load() {
		time.Sleep(10 * time.Millisecond)
	}
	return k, err
}

// A client that does not say that it has seen the end of a session loses its
// connection.
func TestAClosedSessionEndsWithoutTheClient(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan error, 1)
	h := opened(t, sshdoor.Limits{Stall: 50 * time.Millisecond}, func(_ context.Context, s *sshdoor.Session) error {
		close(begun)
		time.AfterFunc(100*time.Millisecond, func() { s.Stream.Close() })
		_, err := io.Copy(io.Discard, s.Stream)
		ended <- err
		return err
	}, "laptop")
	tcp, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	deaf := &numb{Conn: tcp}
	defer deaf.now.Store(false)
	defer tcp.Close()
	conn, channels, requests, err := gossh.NewClientConn(deaf, h.addr, &gossh.ClientConfig{
		User: "git", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer(t, "laptop"))}, HostKeyCallback: gossh.FixedHostKey(h.host),
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewClient(conn, channels, requests).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.StdinPipe(); err != nil { // and it is never closed
		t.Fatal(err)
	}
	if err := s.Start("git-receive-pack 'team'"); err != nil {
		t.Fatal(err)
	}
	<-begun
	deaf.now.Store(true)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the hub still reads")
	}
}

// waitFor is how a session whose output nobody reads ended.
func waitFor(s *gossh.Session) error {
	done := make(chan error, 1)
	go func() { done <- s.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		return nil
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

// endsSoon waits for the hub to end a connection.
func endsSoon(t *testing.T, c *caller) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the connection stays open")
	}
}

// A session that does not say its command holds memory for what it may send. So
// there are few of them, and not for long.
func TestSessionsWithoutACommandAreFewAndShort(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{Handshake: time.Second}, sayWho, "laptop")
	c := h.as(t, "laptop")
	for range 2 {
		if _, err := c.NewSession(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("a third is let in")
	}
	endsSoon(t, c)
}

// Sessions that begin at once come in one after the other.
func TestSessionsThatBeginAtOnceAllRun(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, sayWho, "laptop")
	c := h.as(t, "laptop")
	var work sync.WaitGroup
	for range 12 {
		work.Go(func() {
			s, err := c.NewSession()
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := s.Output("whoami"); err != nil || string(out) != "laptop" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	work.Wait()
}

// What is sent to a command that reads nothing is not kept, and much of it ends
// the connection.
func TestWhatNobodyReadsDoesNotPileUp(t *testing.T) {
	t.Parallel()
	h := opened(t, sshdoor.Limits{}, untilCanceled, "laptop")
	for size, stays := range map[int]bool{1 << 10: true, 1 << 20: false} {
		c := h.as(t, "laptop")
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		in, err := s.StdinPipe()
		if err == nil {
			err = s.Start("watch team")
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(make([]byte, size)); err != nil && stays {
			t.Error(err)
		}
		if !stays {
			endsSoon(t, c)
			continue
		}
		if _, err := c.NewSession(); err != nil {
			t.Errorf("after %d bytes: %v", size, err)
		}
	}
}
