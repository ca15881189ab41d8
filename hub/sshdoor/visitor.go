package sshdoor

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	gliderssh "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// A visitor is one connection, from the moment it is accepted to its end.
type visitor struct {
	net.Conn
	door *Door
	addr string
	gone sync.Once

	waiting atomic.Bool                       // for the login; whoever clears it tells the turnstile
	dropped atomic.Bool                       // it is this side that ends it
	ctx     atomic.Pointer[gliderssh.Context] // set before the handshake

	// Only the goroutine of the handshake looks at these two.
	pre     gossh.ServerPreAuthConn
	refused int // keys so far

	awaiting chan struct{} // a place for each session that has not said its command
	sessions int           // guarded by door.mu
}

// visitorKey is where a connection's context holds its visitor.
type visitorKey struct{}

func visitorOf(ctx gliderssh.Context) *visitor { return ctx.Value(visitorKey{}).(*visitor) }

// welcome ends the waiting; false if the connection was closed meanwhile.
func (v *visitor) welcome() bool {
	if !v.waiting.CompareAndSwap(true, false) {
		return false
	}
	v.door.turnstile.loggedIn(v.addr)
	go v.keepAlive(*v.ctx.Load())
	return true
}

// Close ends the connection; only the first call counts.
func (v *visitor) Close() error {
	err := v.Conn.Close()
	v.gone.Do(func() {
		if v.dropped.Load() {
			v.door.tally.dropped.Add(1)
		}
		v.door.leave(v)
	})
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// drop is Close for a client that is not waited for any longer, or no longer
// welcome.
func (v *visitor) drop() {
	v.dropped.Store(true)
	v.Close()
}

func (v *visitor) Read(b []byte) (int, error) {
	n, err := v.Conn.Read(b)
	v.door.tally.received.Add(uint64(n))
	return n, err
}

func (v *visitor) Write(b []byte) (int, error) {
	n, err := v.Conn.Write(b)
	v.door.tally.sent.Add(uint64(n))
	return n, err
}

// conn is the SSH connection, nil until its handshake has ended.
func (v *visitor) conn() *gossh.ServerConn {
	ctx := v.ctx.Load()
	if ctx == nil {
		return nil
	}
	c, _ := (*ctx).Value(gliderssh.ContextKeyConn).(*gossh.ServerConn)
	return c
}

// key is the key whose signature ended the handshake, nil before that.
func (v *visitor) key() ed25519.PublicKey {
	c := v.conn()
	if c == nil || c.Permissions == nil {
		return nil
	}
	return ed25519.PublicKey(c.Permissions.Extensions[keyExtension])
}

// keepAlive asks the client from time to time whether it is still there, and
// closes the connection when it no longer says anything.
func (v *visitor) keepAlive(ctx context.Context) {
	tick := time.NewTicker(v.door.limits.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c := v.conn(); c != nil && !answers(c, 3*v.door.limits.KeepAlive) {
			v.drop()
			return
		}
	}
}

// answers asks with the request that OpenSSH uses. Any answer will do, also
// that the request is not known.
func answers(c *gossh.ServerConn, patience time.Duration) bool {
	answered := make(chan bool, 1)
	go func() {
		_, _, err := c.SendRequest("keepalive@openssh.com", true, nil)
		answered <- err == nil
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case ok := <-answered:
		return ok
	case <-timer.C:
		return false
	}
}
