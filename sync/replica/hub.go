package replica

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
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"cairn/internal/device"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
)

// A Hub is the connection to a cairn hub. One SSH connection is opened when
// it is first needed, kept, and opened again when it broke. It is safe for
// concurrent use.
type Hub struct {
	key ssh.Signer

	mu     sync.Mutex
	at     Address
	client *ssh.Client // nil while there is none
	closed bool
}

// NewHub returns the hub at an address, to which key logs in.
func NewHub(at Address, key device.Key) (*Hub, error) {
	signer, err := key.SSH()
	if err != nil {
		return nil, fmt.Errorf("use the device key: %w", err)
	}
	return &Hub{at: at, key: signer}, nil
}

// Close ends the connection; calls under way fail, and later ones too.
func (h *Hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.client == nil {
		return nil
	}
	err := h.client.Close()
	h.client = nil
	return err
}

// Drop ends the connection so that the next call makes a new one, for example
// after the machine slept.
func (h *Hub) Drop() {
	h.mu.Lock()
	c := h.client
	h.mu.Unlock()
	if c != nil {
		h.forget(c)
	}
}

// Move makes the next call connect to another address of the same hub.
func (h *Hub) Move(at Address) {
	h.mu.Lock()
	h.at = at
	h.mu.Unlock()
	h.Drop()
}

func (h *Hub) where() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return "the hub at " + h.at.Host
}

func (h *Hub) forget(c *ssh.Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client == c {
		h.client = nil
	}
	c.Close() // broken already, or about to be replaced
}

// connect returns the kept connection, or a new one.
func (h *Hub) connect(ctx context.Context) (*ssh.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, offline("reach the hub", net.ErrClosed)
	}
	if h.client != nil {
		return h.client, nil
	}
	c, err := dial(ctx, h.at, h.key)
	if err != nil {
		return nil, err
	}
	h.client = c
	go func() {
		keepAlive(c)
		h.forget(c)
	}()
	return c, nil
}

// open starts a command at the hub. A kept connection that turns out to be
// broken is replaced once.
func (h *Hub) open(ctx context.Context, command string) (*session, error) {
	for attempt := 0; ; attempt++ {
		c, err := h.connect(ctx)
		if err != nil {
			return nil, err
		}
		s, err := startSession(ctx, c, command)
		if err == nil {
			return s, nil
		}
		h.forget(c)
		if attempt > 0 {
			return nil, offline("ask "+h.where(), err)
		}
	}
}

// session is one command at the hub, as a stream.
type session struct {
	*ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    *tail // on stderr
	unwatch func() bool
}

func startSession(ctx context.Context, c *ssh.Client, command string) (*session, error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	in, inErr := s.StdinPipe()
	out, outErr := s.StdoutPipe()
	said := new(tail)
	s.Stderr = said
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.Start(command); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	st := &session{Session: s, in: in, out: out, said: said}
	st.unwatch = context.AfterFunc(ctx, func() { s.Close() })
	return st, nil
}

func (s *session) Read(b []byte) (int, error)  { return s.out.Read(b) }
func (s *session) Write(b []byte) (int, error) { return s.in.Write(b) }

// Close ends the command whatever it is doing.
func (s *session) Close() error {
	s.unwatch()
	err := s.Session.Close()
	if errors.Is(err, io.EOF) { // it had ended by itself
		return nil
	}
	return err
}

// ended is why the session stopped before it was done: what the hub said, or
// err.
func (s *session) ended(ctx context.Context, doing string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	s.in.Close() // so that the hub ends too, if it has not
	done := make(chan error, 1)
	go func() { done <- s.Wait() }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
	if text := s.said.String(); text != "" {
		return &RefusedError{Message: text}
	}
	return offline(doing, err)
}

// tail keeps the first part of what is written to it, as printable lines.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const maxSaid = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxSaid - t.b.Len(); room > 0 {
		t.b.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}

// String is what was said, without control characters.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	clean := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, t.b.String())
	return strings.TrimSpace(strings.ToValidUTF8(clean, ""))
}

// maxAnswer bounds the answer to a question.
const maxAnswer = 4 << 20

// ask runs a command that answers once. What the hub itself says no with is
// a *problem.Problem.
func (h *Hub) ask(ctx context.Context, command string, input []byte) ([]byte, error) {
	s, err := h.open(ctx, command)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.exchange(ctx, command, input)
}

func (s *session) exchange(ctx context.Context, command string, input []byte) ([]byte, error) {
	doing := "ask the hub for " + firstWord(command)
	_, err := s.in.Write(input)
	if err == nil {
		err = s.in.Close()
	}
	// A hub that needs no input may have answered and gone already.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.ended(ctx, doing, err)
	}
	answer, err := io.ReadAll(io.LimitReader(s.out, maxAnswer))
	if err != nil {
		return nil, s.ended(ctx, doing, err)
	}
	if err := s.Wait(); err != nil {
		if p := failure(answer); p != nil {
			return nil, p
		}
		return nil, s.ended(ctx, doing, err)
	}
	return answer, nil
}

// failure is the problem that the hub answered with, if it is one.
func failure(answer []byte) error {
	var f hubwire.Failure
	if err := json.Unmarshal(answer, &f); err != nil || f.Error == nil {
		return nil
	}
	return f.Error
}

func firstWord(command string) string {
	word, _, _ := strings.Cut(command, " ")
	return word
}

// Whoami is who the hub takes this machine for.
func (h *Hub) Whoami(ctx context.Context) (w hubwire.Whoami, err error) {
	err = h.askJSON(ctx, hubwire.CmdWhoami, &w)
	return w, err
}

// Spaces are the spaces this machine may read.
func (h *Hub) Spaces(ctx context.Context) (list []hubwire.SpaceInfo, err error) {
	err = h.askJSON(ctx, hubwire.CmdSpaces, &list)
	return list, err
}

func (h *Hub) askJSON(ctx context.Context, command string, into any) error {
	answer, err := h.ask(ctx, command, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return &RefusedError{Message: "its answer to " + command + " is not understood; is it a cairn hub of this version?"}
	}
	return nil
}

// Admin runs one of the hub's admin verbs, with its arguments, and returns
// what it prints.
func (h *Hub) Admin(ctx context.Context, args []string) ([]byte, error) {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return h.ask(ctx, "hub "+strings.Join(quoted, " "), nil)
}

// silence is how long a watch may say nothing before it counts as broken: the
// hub pings more often than that.
const silence = 45 * time.Second

// Watch calls fn with each line that the hub says about the spaces, until ctx
// ends, fn returns an error, or the connection breaks; it returns that error.
func (h *Hub) Watch(ctx context.Context, spaces []string, fn func(hubwire.Line) error) error {
	s, err := h.open(ctx, hubwire.CmdWatch+" "+strings.Join(spaces, " "))
	if err != nil {
		return err
	}
	defer s.Close()
	quiet := time.AfterFunc(silence, func() { s.Session.Close() })
	defer quiet.Stop()
	lines := bufio.NewScanner(s.out)
	lines.Buffer(make([]byte, 4096), 1<<20)
	for lines.Scan() {
		quiet.Reset(silence)
		var l hubwire.Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return offline("watch the hub", errors.New("a line is not understood"))
		}
		if err := fn(l); err != nil {
			return err
		}
	}
	err = lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return s.ended(ctx, "watch the hub", err)
}

// Enrol makes key a device at the hub of an invite.
func Enrol(ctx context.Context, i invite.Invite, key device.Key, name string) (hubwire.Enrolled, error) {
	at, signer, err := inviteAddress(i)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	c, err := dial(ctx, at, signer)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	defer c.Close()
	request, err := json.Marshal(hubwire.NewEnrolRequest(key, name, c.SessionID()))
	if err != nil {
		return hubwire.Enrolled{}, fmt.Errorf("enrol: %w", err)
	}
	s, err := startSession(ctx, c, hubwire.CmdEnrol)
	if err != nil {
		return hubwire.Enrolled{}, offline("enrol", err)
	}
	defer s.Close()
	answer, err := s.exchange(ctx, hubwire.CmdEnrol, request)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	var e hubwire.Enrolled
	if err := json.Unmarshal(answer, &e); err != nil {
		return hubwire.Enrolled{}, &RefusedError{Message: "its answer to the enrolment is not understood"}
	}
	return e, nil
}
