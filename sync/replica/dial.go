package replica

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"cairn/internal/device"
	"cairn/internal/invite"
)

// An Address is where a hub is and how to know it.
type Address struct {
	Host        string // host:port
	Fingerprint string // of its host key, as ssh prints it
}

// dialTimeout is how long the beginning of a connection may take.
const dialTimeout = 10 * time.Second

// Patience says how soon a connection to a hub that has fallen silent counts as
// broken: after a change of network nobody tells. Fields that are zero have the
// value of DefaultPatience.
type Patience struct {
	Every  time.Duration // the hub is asked for a sign of life so often
	Answer time.Duration // it may take so long to give one
	// After a sleep the network is often another one: the hub is asked at once,
	// and not waited for as long. Look is how often the machine looks whether
	// it slept.
	Look, AfterSleep time.Duration
}

// DefaultPatience finds a broken connection after half a minute at the latest,
// and after eight seconds when the machine slept.
var DefaultPatience = Patience{
	Every: 15 * time.Second, Answer: 15 * time.Second,
	Look: 5 * time.Second, AfterSleep: 3 * time.Second,
}

func (p Patience) withDefaults() Patience {
	return Patience{
		Every: cmp.Or(p.Every, DefaultPatience.Every), Answer: cmp.Or(p.Answer, DefaultPatience.Answer),
		Look: cmp.Or(p.Look, DefaultPatience.Look), AfterSleep: cmp.Or(p.AfterSleep, DefaultPatience.AfterSleep),
	}
}

// dial opens an SSH connection and logs in. Errors: ErrOffline, *HostKeyError,
// *RefusedError.
func dial(ctx context.Context, at Address, key ssh.Signer) (*ssh.Client, error) {
	ctx, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return nil, offline("reach the hub at "+at.Host, err)
	}
	// The handshake does not look at a context; closing the connection ends it.
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	var wrongKey error
	said := new(tail)
	c, chans, reqs, err := ssh.NewClientConn(conn, at.Host, &ssh.ClientConfig{
		User:              "cairn",
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
		BannerCallback: func(text string) error {
			_, err := said.Write([]byte(text))
			return err
		},
		HostKeyCallback: func(_ string, _ net.Addr, have ssh.PublicKey) error {
			if fp := ssh.FingerprintSHA256(have); fp != at.Fingerprint {
				wrongKey = &HostKeyError{Address: at.Host, Have: fp, Want: at.Fingerprint}
			}
			return wrongKey
		},
	})
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return ssh.NewClient(c, chans, reqs), nil
	}
	conn.Close()
	if wrongKey != nil {
		return nil, wrongKey
	}
	if strings.Contains(err.Error(), "unable to authenticate") {
		if reason := said.String(); reason != "" {
			return nil, &RefusedError{Message: reason}
		}
		return nil, &RefusedError{Message: "the hub at " + at.Host + " does not let in this device's key " + ssh.FingerprintSHA256(key.PublicKey())}
	}
	return nil, offline("log in at the hub at "+at.Host, err)
}

// keepAlive ends the connection when the other side stops answering, so that
// whoever waits on it learns after a sleep or a change of network.
func keepAlive(c *ssh.Client, p Patience) {
	gone := make(chan struct{})
	go func() { c.Wait(); close(gone) }()
	tick := time.NewTicker(p.Look)
	defer tick.Stop()
	for last, asked := time.Now(), time.Now(); ; last = time.Now() {
		select {
		case <-gone:
			return
		case <-tick.C:
		}
		now, patience := time.Now(), p.Answer
		if slept(last, now, p.Look) {
			patience = p.AfterSleep
		} else if now.Sub(asked) < p.Every {
			continue
		}
		if !answers(c, gone, patience) {
			c.Close()
			return
		}
		asked = time.Now()
	}
}

// slept says whether the machine slept between two looks, of which there is one
// at each of these intervals. While it sleeps, only the clock on the wall goes
// on.
func slept(last, now time.Time, every time.Duration) bool {
	return now.Round(0).Sub(last.Round(0)) > 3*every
}

// answers asks the other side for a sign of life.
func answers(c *ssh.Client, gone <-chan struct{}, patience time.Duration) bool {
	answered := make(chan error, 1)
	go func() {
		_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	}()
	select {
	case err := <-answered:
		return err == nil
	case <-time.After(patience):
	case <-gone:
	}
	return false
}

// inviteAddress is the address in an invite, and the key that logs in with it.
func inviteAddress(i invite.Invite) (Address, ssh.Signer, error) {
	private, err := i.Key()
	if err != nil {
		return Address{}, nil, err
	}
	signer, err := device.FromPrivate(private).SSH()
	if err != nil {
		return Address{}, nil, fmt.Errorf("use the invite's key: %w", err)
	}
	return Address{Host: i.Addr, Fingerprint: i.HostKey}, signer, nil
}
