package sshdoor

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxAddresses bounds the memory of a turnstile.
const maxAddresses = 8192

// A turnstile decides which connections may try to log in. It counts those
// that have not logged in yet, and gives each address a token bucket that a
// login fills up again, so that only visits without one are slowed down.
type turnstile struct {
	limits Limits
	now    func() time.Time

	mu      sync.Mutex // guards the rest
	open    int
	waiting int
	bucket  map[string]*bucket
}

type bucket struct {
	tokens  float64
	filled  time.Time
	waiting int
}

func newTurnstile(l Limits) *turnstile {
	return &turnstile{limits: l, now: time.Now, bucket: map[string]*bucket{}}
}

// enter counts a new connection, or says why it must go.
func (t *turnstile) enter(addr string) (reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.at(addr)
	switch {
	case t.open >= t.limits.Connections:
		return "too many connections"
	case t.waiting >= t.limits.Waiting:
		return "too many connections that have not logged in"
	case b.waiting >= t.limits.WaitingAddress:
		return "too many connections of one address that have not logged in"
	case b.tokens < 1:
		return "too many visits of one address without a login"
	}
	b.tokens--
	b.waiting++
	t.waiting++
	t.open++
	return ""
}

// loggedIn ends the waiting of a connection and gives its token back.
func (t *turnstile) loggedIn(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.at(addr)
	b.tokens = min(b.tokens+1, float64(t.limits.Burst))
	b.waiting--
	t.waiting--
}

// leave uncounts a connection.
func (t *turnstile) leave(addr string, waiting bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	if waiting {
		t.at(addr).waiting--
		t.waiting--
	}
}

// at is the bucket of addr, filled up to now. The caller holds mu.
func (t *turnstile) at(addr string) *bucket {
	now := t.now()
	b := t.bucket[addr]
	if b == nil {
		t.makeRoom(now)
		b = &bucket{tokens: float64(t.limits.Burst), filled: now}
		t.bucket[addr] = b
	}
	t.fill(b, now)
	return b
}

func (t *turnstile) fill(b *bucket, now time.Time) {
	b.tokens = min(b.tokens+now.Sub(b.filled).Seconds()*t.limits.Refill, float64(t.limits.Burst))
	b.filled = now
}

// makeRoom forgets addresses that a new bucket would describe as well.
func (t *turnstile) makeRoom(now time.Time) {
	if len(t.bucket) < maxAddresses {
		return
	}
	for addr, b := range t.bucket {
		t.fill(b, now)
		if b.waiting == 0 && b.tokens >= float64(t.limits.Burst) {
			delete(t.bucket, addr)
		}
	}
}

// addressOf is whom a connection is counted for: an IPv4 address, or the /64
// that one IPv6 host usually has to itself.
func addressOf(a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := ap.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}
