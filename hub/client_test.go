package hub_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/problem"
)

// A terminal is one SSH connection, as a program of any origin would make it.
type terminal struct {
	*gossh.Client
	t *testing.T
}

// dial logs in with a key. What the hub said instead is the error.
func (h *house) dial(key ed25519.PrivateKey) (*terminal, error) {
	h.t.Helper()
	signer, err := gossh.NewSignerFromKey(key)
	if err != nil {
		h.t.Fatal(err)
	}
	var said strings.Builder
	c, err := gossh.Dial("tcp", h.addr, &gossh.ClientConfig{
		User: "cairn", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)}, Timeout: 30 * time.Second,
		HostKeyCallback: gossh.FixedHostKey(hostKeyOf(h)),
		BannerCallback:  func(text string) error { said.WriteString(text); return nil },
	})
	if err != nil {
		return nil, errors.New(said.String() + err.Error())
	}
	h.t.Cleanup(func() { c.Close() })
	return &terminal{c, h.t}, nil
}

// as logs in with the key of the device of that name.
func (h *house) as(name string) *terminal {
	h.t.Helper()
	c, err := h.dial(privateKey(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// run runs a command with an input, and reads its answer into into unless it
// is nil. The error is the *problem.Problem that the hub answered.
func (c *terminal) run(input string, into any, line string) error {
	c.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	defer s.Close()
	var out, said bytes.Buffer
	s.Stdin, s.Stdout, s.Stderr = strings.NewReader(input), &out, &said
	err = s.Run(line)
	var exit *gossh.ExitError
	if errors.As(err, &exit) {
		var f hubwire.Failure
		if err := json.Unmarshal(out.Bytes(), &f); err != nil || f.Error == nil {
			c.t.Fatalf("%s: exit status %d and no problem in %q", line, exit.ExitStatus(), out.String())
		}
		if f.Error.Code.ExitCode() != exit.ExitStatus() || !strings.Contains(said.String(), f.Error.Message) {
			c.t.Errorf("%s: exit status %d, stderr %q, problem %+v", line, exit.ExitStatus(), said.String(), f.Error)
		}
		return f.Error
	}
	if err != nil {
		return err
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out.Bytes(), into)
}

// join enrols the device of that name with an invite.
func (h *house) join(text, name string) (hubwire.Enrolled, error) {
	h.t.Helper()
	i, err := invite.Parse(text)
	if err != nil {
		h.t.Fatal(err)
	}
	key, err := i.Key()
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := h.dial(key)
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	return c.enrol(hubwire.NewEnrolRequest(keyOf(name), name, c.SessionID()))
}

func (c *terminal) enrol(request any) (e hubwire.Enrolled, err error) {
	c.t.Helper()
	b, err := json.Marshal(request)
	if err != nil {
		c.t.Fatal(err)
	}
	return e, c.run(string(b), &e, hubwire.CmdEnrol)
}

func code(err error) problem.Code {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

// message is what an error says, for wants.
func message(err error) string {
	if err == nil {
		return "(nothing went wrong)"
	}
	return err.Error()
}

// watch runs a command that goes on, and hands over its lines.
func (c *terminal) watch(line string) (<-chan hubwire.Line, <-chan error) {
	c.t.Helper()
	s, err := c.NewSession()
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := s.Start(line); err != nil {
		c.t.Fatal(err)
	}
	lines, ended := make(chan hubwire.Line, 64), make(chan error, 1)
	go func() {
		in := json.NewDecoder(out)
		for {
			var l hubwire.Line
			if err := in.Decode(&l); err != nil {
				break
			}
			lines <- l
		}
		ended <- s.Wait()
	}()
	return lines, ended
}
