package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"cairn/internal/hubwire"
)

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
		return refusedWith(text)
	}
	return offline(doing, err)
}

// refusedWith is what the hub said when it ended a command.
func refusedWith(text string) error {
	tooMuch := false
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if r, ok := hubwire.ParseRefusal(line); ok {
			tooMuch = tooMuch || r.Rule == hubwire.RuleLimit
		} else {
			words = append(words, line)
		}
	}
	message := strings.Join(words, "\n")
	if tooMuch {
		return &tooMuchError{message}
	}
	return &RefusedError{Message: message}
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
