package fleettest_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// An attack is done again and again until ctx ends. What the hub answers to it is its own business; the error breached is
// returned when something was let through that must not be.
type attack struct {
	name string
	by   company
	do   func(ctx context.Context, e *foe) error
}

// A company is who does an attack.
type company int

const (
	strangers company = iota
	people            // each with a device
	onePerson         // with many devices
)

var errBreached = errors.New("breached")

func attacks() []attack {
	return []attack{
		{"a flood of handshakes", strangers, floodOfHandshakes},
		{"half-open connections", strangers, halfOpen},
		{"unknown keys", strangers, func(ctx context.Context, e *foe) error { return e.strangeKeys(ctx, 1) }},
		{"many tries to log in", strangers, func(ctx context.Context, e *foe) error { return e.strangeKeys(ctx, 40) }},
		{"slow pushes", people, slowPush},
		{"pushes with secrets", people, secretPush},
		{"garbage for packs", people, garbagePack},
		{"packs that unpack to much", people, bombPack},
		{"lines without end", people, endlessLines},
		{"many pushes of one device", people, manyPushes},
		{"a flood of refusals", onePerson, floodOfRefusals},
		{"watchers that never read", people, deafWatchers},
		{"sessions without end", people, manySessions},
	}
}

func floodOfHandshakes(ctx context.Context, e *foe) error {
	c, err := e.dial(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c, "SSH-2.0-flood\r\n")
	return errors.Join(err, c.Close())
}

func halfOpen(ctx context.Context, e *foe) error {
	c, err := e.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "SSH-2.0-ha"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}

func (e *foe) strangeKeys(ctx context.Context, n int) error {
	var keys []ed25519.PrivateKey
	for range n {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	c, err := e.login(ctx, keys...)
	if err != nil {
		return err
	}
	return errors.Join(errBreached, c.Close())
}

// slowPush sends a pack byte by byte, always soon enough not to be taken for silent.
func slowPush(ctx context.Context, e *foe) error {
	return e.push(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, "PACK\x00\x00\x00\x02\x00\x00\x00\x01")
		for err == nil {
			time.Sleep(50 * time.Millisecond)
			_, err = w.Write([]byte{0x80})
		}
		return err
	})
}

func garbagePack(ctx context.Context, e *foe) error {
	return e.push(ctx, func(w io.Writer) error {
		_, err := io.CopyN(w, io.MultiReader(strings.NewReader("PACK\x00\x00\x00\x02\x00\x00\x00\x09"), rand.Reader), 256<<10)
		return err
	})
}

func bombPack(ctx context.Context, e *foe) error {
	return e.push(ctx, func(w io.Writer) error {
		_, err := w.Write(bomb(1 << 14))
		return err
	})
}

// endlessLines sends what has no end where a line or an answer is waited for.
func endlessLines(ctx context.Context, e *foe) error {
	var errs []error
	for command, begin := range map[string]string{
		"git-receive-pack 'team'": "fff0", "git-upload-pack 'team'": "fff0", "git-receive-pack 'personal'": "0003",
		hubwire.CmdPolicy: `{"verb":"`, hubwire.CmdRenew: `{"key":"`, "hub " + strings.Repeat("x", 200<<10): "",
	} {
		t, err := e.talk(ctx, command)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		go func() {
			_, _ = io.CopyN(t, io.MultiReader(strings.NewReader(begin), rand.Reader), 8<<20)
			t.Close()
		}()
		_, err = io.Copy(io.Discard, t.Reader)
		errs = append(errs, err, t.Close())
	}
	return errors.Join(errs...)
}

// floodOfRefusals has pushes refused one after the other, as fast as the hub answers.
func floodOfRefusals(ctx context.Context, e *foe) error {
	c, err := e.login(ctx, e.key)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		s, err := c.NewSession()
		if err != nil {
			return err
		}
		s.Stdin = strings.NewReader("0003")
		_ = s.Run("git-receive-pack 'team'") // how the hub words it is not looked at here
		_ = s.Close()
	}
}

// deafWatchers begin as many watches as they may, fill their inputs and read nothing.
func deafWatchers(ctx context.Context, e *foe) error {
	return e.crowd(ctx, 20, func(s *gossh.Session, _ io.Writer) error { return s.Start("watch team personal") })
}

// manySessions opens sessions that never say what they want, or say at length what nobody asked for.
func manySessions(ctx context.Context, e *foe) error {
	return e.crowd(ctx, 200, func(s *gossh.Session, _ io.Writer) error {
		for range 16 {
			_ = s.Setenv("LANG", strings.Repeat("x", 30<<10)) // refused
		}
		return nil
	})
}

// manyPushes begins as many pushes as there may be sessions, and has each send as much as it can while it waits.
func manyPushes(ctx context.Context, e *foe) error {
	return e.crowd(ctx, 20, func(s *gossh.Session, in io.Writer) error {
		if err := s.Start("git-receive-pack 'personal'"); err != nil {
			return err
		}
		line := pktLine(strings.Repeat("0", 40) + " " + strings.Repeat("1", 40) + " " + event.MainRef + "\x00 report-status")
		_, err := io.WriteString(in, line+"0000PACK\x00\x00\x00\x02\x00\x00\x00\x01")
		return err
	})
}

// crowd opens sessions on one connection and sends them more than they read, for a while.
func (e *foe) crowd(ctx context.Context, n int, begin func(*gossh.Session, io.Writer) error) error {
	c, err := e.login(ctx, e.key)
	if err != nil {
		return err
	}
	defer c.Close()
	junk := make([]byte, 32<<10)
	for range n {
		s, err := c.NewSession()
		if err != nil {
			continue // there are enough of them
		}
		in, err := s.StdinPipe()
		if err == nil {
			err = begin(s, in)
		}
		if err != nil {
			return err
		}
		go func() {
			for err := error(nil); err == nil; {
				_, err = in.Write(junk)
			}
		}()
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-ctx.Done():
	case <-ended:
	case <-time.After(10 * time.Second):
	}
	return nil
}
