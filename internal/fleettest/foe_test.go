package fleettest_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	gossh "golang.org/x/crypto/ssh"

	devicekey "cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/fleettest"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/sync/gitwire"
)

// hostileMark stands in all that a foe sends as a note, so that a trace of it can be found.
const hostileMark = "zq-hostile-zq"

// A foe means the hub ill. It has an address of its own, as on a network, and a device key of its own if it is a member.
type foe struct {
	hub  string
	from net.IP
	key  ed25519.PrivateKey // nil for a stranger
	dir  string             // for a clone
	tip  plumbing.Hash      // of the clone, once there is one
}

// newFoe is a foe at the n-th address of this machine. As a member it joined properly, as a person of that name.
func newFoe(f *fleettest.Fleet, n int, person, dir string) (*foe, error) {
	return recruited(f, n, person, dir).join()
}

func recruited(f *fleettest.Fleet, n int, person, dir string) recruit {
	r := recruit{Hub: f.Addr(), N: n, Person: person, Dir: dir}
	if person != "" {
		r.Invite = f.Invite(person)
	}
	return r
}

func (r recruit) join() (*foe, error) {
	e := &foe{hub: r.Hub, from: net.IPv4(127, 0, 1, byte(r.N)), dir: r.Dir}
	if r.Person == "" {
		return e, nil
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	e.key = key
	return e, e.enrol(r.Invite, r.Person)
}

func (e *foe) enrol(text, name string) error {
	i, err := invite.Parse(text)
	if err != nil {
		return err
	}
	key, err := i.Key()
	if err != nil {
		return err
	}
	c, err := e.login(context.Background(), key)
	if err != nil {
		return err
	}
	defer c.Close()
	request, err := json.Marshal(hubwire.NewEnrolRequest(devicekey.FromPrivate(e.key), name, c.SessionID()))
	if err != nil {
		return err
	}
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	s.Stdin = bytes.NewReader(request)
	return s.Run(hubwire.CmdEnrol)
}

// dial is a connection that ends with ctx.
func (e *foe) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: e.from}}
	c, err := d.DialContext(ctx, "tcp", e.hub)
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}

// login offers keys until one is taken.
func (e *foe) login(ctx context.Context, keys ...ed25519.PrivateKey) (*gossh.Client, error) {
	c, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	var signers []gossh.Signer
	for _, key := range keys {
		signer, err := gossh.NewSignerFromKey(key)
		if err != nil {
			return nil, err
		}
		signers = append(signers, signer)
	}
	conn, channels, requests, err := gossh.NewClientConn(c, e.hub, &gossh.ClientConfig{
		User: "cairn", Auth: []gossh.AuthMethod{gossh.PublicKeys(signers...)}, HostKeyCallback: gossh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return gossh.NewClient(conn, channels, requests), nil
}

// A talk is one command of a member.
type talk struct {
	io.Writer
	io.Reader
	*gossh.Client
	session *gossh.Session
}

// talk begins a command on a connection of its own. Closing it ends both.
func (e *foe) talk(ctx context.Context, command string) (*talk, error) {
	c, err := e.login(ctx, e.key)
	if err != nil {
		return nil, err
	}
	s, err := c.NewSession()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	in, err := s.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start(command)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &talk{in, out, c, s}, nil
}

// greeted is a talk in which the hub has shown its refs.
func (e *foe) greeted(ctx context.Context, command string) (*talk, *gitwire.Advert, error) {
	t, err := e.talk(ctx, command)
	if err != nil {
		return nil, nil, err
	}
	ad, err := gitwire.ReadAdvert(t)
	if err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	return t, ad, nil
}

// push begins a push to the space of the team and has the foe write what follows its command.
func (e *foe) push(ctx context.Context, write func(w io.Writer) error) error {
	t, ad, err := e.greeted(ctx, "git-receive-pack 'team'")
	if err != nil {
		return err
	}
	defer t.Close()
	line := fmt.Sprintf("%s %s %s\x00 report-status", ad.Refs[event.MainRef], strings.Repeat("1", 40), event.MainRef)
	if _, err := io.WriteString(t, pktLine(line)+"0000"); err != nil {
		return err
	}
	if err := write(t); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, t.Reader)
	return err
}

func pktLine(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }
