package sshdoor

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"time"

	gliderssh "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"cairn/hub/devices"
	"cairn/internal/hubwire"
)

// Options are what a door needs. All but Log and Limits must be set.
type Options struct {
	HostKey gossh.Signer
	// Lookup says whose key it is, as of now. It is called for every offer,
	// login and command.
	Lookup func(ed25519.PublicKey) (devices.Identity, error)
	// Handle runs one command. Its error is told to the client if it is a
	// *problem.Problem, and otherwise logged. The context ends with the
	// session. It is called from many goroutines.
	Handle func(context.Context, *Session) error
	Log    *slog.Logger
	Limits Limits
}

// A Door serves SSH on one listener.
type Door struct {
	lookup    func(ed25519.PublicKey) (devices.Identity, error)
	handle    func(context.Context, *Session) error
	log       *slog.Logger
	limits    Limits
	turnstile *turnstile
	room      *room
	brake     *brake
	server    *gliderssh.Server
	tally     tally
	stopping  chan struct{}
	running   sync.WaitGroup // one for each visitor and each session

	mu       sync.Mutex // guards visitors, their sessions, and the closing of stopping
	visitors map[*visitor]struct{}
}

// New makes a door. It serves nothing yet.
func New(o Options) (*Door, error) {
	if o.HostKey == nil || o.Lookup == nil || o.Handle == nil {
		return nil, errors.New("an SSH door needs a host key, a lookup and a handler")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{
		lookup: o.Lookup, handle: o.Handle, log: o.Log, limits: o.Limits.withDefaults(),
		stopping: make(chan struct{}), visitors: map[*visitor]struct{}{},
	}
	d.turnstile, d.room, d.brake = newTurnstile(d.limits), newRoom(d.limits), newBrake(d.limits)
	d.server = &gliderssh.Server{
		Version:     "cairn",
		HostSigners: []gliderssh.Signer{o.HostKey},
		// Twice the time after which a keep-alive gives up; what it catches is
		// a client that does not even take our packets.
		IdleTimeout:          6 * d.limits.KeepAlive,
		PublicKeyHandler:     d.offer,
		ServerConfigCallback: d.config,
		ConnCallback: func(ctx gliderssh.Context, c net.Conn) net.Conn {
			v := c.(*visitor)
			v.ctx.Store(&ctx)
			ctx.SetValue(visitorKey{}, v)
			return v
		},
		// Every other kind of channel and every global request is refused.
		ChannelHandlers: map[string]gliderssh.ChannelHandler{"session": d.serveSession},
		RequestHandlers: map[string]gliderssh.RequestHandler{},
	}
	return d, nil
}

// Serve lets visitors in until ctx ends, then stops in order: no new ones,
// endless sessions told, idle connections closed, running commands waited for
// as long as Limits.Grace, the rest cut. It closes l. A Door serves once.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	unhook := context.AfterFunc(ctx, func() { d.logIf(l.Close()) })
	defer unhook()
	pause := time.Duration(0)
	for ctx.Err() == nil {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			d.accept(c)
		case errors.Is(err, net.ErrClosed) && ctx.Err() == nil:
			return errors.Join(fmt.Errorf("serve ssh: %w", err), d.stop())
		case ctx.Err() == nil:
			// Out of file descriptors, for example: it passes.
			d.log.Warn("accept a connection", "err", err)
			pause = min(2*pause+5*time.Millisecond, time.Second)
			time.Sleep(pause)
		}
	}
	return d.stop()
}

func (d *Door) accept(c net.Conn) {
	addr := addressOf(c.RemoteAddr())
	if reason := d.turnstile.enter(addr); reason != "" {
		d.tally.refused.Add(1)
		d.log.Debug("turned away", "addr", addr, "reason", reason)
		d.logIf(c.Close())
		return
	}
	d.tally.accepted.Add(1)
	v := &visitor{Conn: c, door: d, addr: addr, awaiting: make(chan struct{}, d.limits.Awaiting)}
	v.waiting.Store(true)
	d.mu.Lock()
	d.visitors[v] = struct{}{}
	d.mu.Unlock()
	d.running.Go(func() { d.receive(v) })
}

func (d *Door) receive(v *visitor) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("a connection panicked", "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		}
		v.Close()
	}()
	// The library has no deadline for the handshake, and resets any that is
	// set on the connection. A timer that is left running would hold all that a
	// connection has taken.
	defer time.AfterFunc(d.limits.Handshake, func() {
		if v.waiting.Load() {
			v.drop()
		}
	}).Stop()
	d.server.HandleConn(v)
}

func (d *Door) leave(v *visitor) {
	d.mu.Lock()
	delete(d.visitors, v)
	d.mu.Unlock()
	d.turnstile.leave(v.addr, v.waiting.CompareAndSwap(true, false))
}

func (d *Door) present() []*visitor {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]*visitor, 0, len(d.visitors))
	for v := range d.visitors {
		list = append(list, v)
	}
	return list
}

func (d *Door) connectionsOf(key ed25519.PublicKey) int {
	n := 0
	for _, v := range d.present() {
		if held := v.key(); held != nil && held.Equal(key) {
			n++
		}
	}
	return n
}

// Recheck closes every connection whose key is no longer welcome. Call it
// after a change of members.
func (d *Door) Recheck() {
	for _, v := range d.present() {
		key := v.key()
		if key == nil {
			continue
		}
		who, err := d.lookup(key)
		if err != nil {
			d.log.Error("look up a key", "err", err)
			continue // the next command asks again
		}
		if refusal(who, hubwire.Fingerprint(key)) != nil {
			d.log.Info("cut off", "key", hubwire.Fingerprint(key), "addr", v.addr)
			v.drop()
		}
	}
}

// logIf notes what went wrong with a client; there is nobody left to tell.
func (d *Door) logIf(err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		d.log.Debug("talk to a client", "err", err)
	}
}
