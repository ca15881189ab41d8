package replica

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// A Hub is the connection to a cairn hub. One SSH connection is opened when
// it is first needed, kept, and opened again when it broke. It is safe for
// concurrent use.
type Hub struct {
	mu     sync.Mutex
	key    ssh.Signer
	device event.DeviceID // whose key it is
	at     Address
	client *ssh.Client // nil while there is none
	wait   Patience
	clock  reading // of the hub's, on this connection
	closed bool
}

// NewHub returns the hub at an address, to which key logs in.
func NewHub(at Address, key device.Key) (*Hub, error) {
	signer, err := key.SSH()
	if err != nil {
		return nil, fmt.Errorf("use the device key: %w", err)
	}
	return &Hub{at: at, key: signer, device: key.ID(), wait: DefaultPatience}, nil
}

// SetPatience is for connections that are made from now on.
func (h *Hub) SetPatience(p Patience) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wait = p.withDefaults()
}

// Device is as which device this machine logs in.
func (h *Hub) Device() event.DeviceID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.device
}

// Rekey makes the next call log in with another key, which the hub must know.
func (h *Hub) Rekey(key device.Key) error {
	signer, err := key.SSH()
	if err != nil {
		return fmt.Errorf("use the device key: %w", err)
	}
	h.mu.Lock()
	h.key, h.device = signer, key.ID()
	h.mu.Unlock()
	h.Drop()
	return nil
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
	if errors.Is(err, net.ErrClosed) { // it had been given up already
		return nil
	}
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

func (h *Hub) isHost(key ed25519.PublicKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hubwire.Fingerprint(key) == h.at.Fingerprint
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
	h.client, h.clock = c, reading{}
	wait := h.wait
	go func() {
		keepAlive(c, wait)
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
		crowded := problem.IsA[*ssh.OpenChannelError](err) // and the connection is as good as before
		if !crowded {
			h.forget(c)
		}
		if crowded || attempt > 0 {
			return nil, offline("ask "+h.where(), err)
		}
	}
}
