package fleettest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// A Line is the network between a machine and whatever it calls. It can be cut and mended at any time, and where it leads
// may change: the machine sees one address all the while. It is safe for concurrent use.
type Line struct {
	listener net.Listener
	to       func() string
	work     sync.WaitGroup

	over chan struct{} // closed by end

	mu     sync.Mutex
	cut    bool
	ended  bool
	open   map[net.Conn]bool
	frozen chan struct{} // closed when what is open now is frozen
}

// NewLine is a line that leads to the address that to returns, until the test ends.
func NewLine(t testing.TB, to func() string) *Line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{listener: listener, to: to, open: map[net.Conn]bool{}, over: make(chan struct{}), frozen: make(chan struct{})}
	l.work.Go(l.accept)
	t.Cleanup(l.end)
	return l
}

// Addr is the address of the near end.
func (l *Line) Addr() string { return l.listener.Addr().String() }

// Cut breaks what goes over the line, and lets nothing through until Mend.
func (l *Line) Cut() { l.set(true) }

// Mend lets new connections through.
func (l *Line) Mend() { l.set(false) }

// Freeze lets nothing more through what is open, for ever, and tells neither side; new connections work. So it is after a
// machine slept, or its network became another one.
func (l *Line) Freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.frozen)
	l.frozen = make(chan struct{})
}

func (l *Line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		l.hangUp()
	}
}

// hangUp ends what is open. The caller holds mu.
func (l *Line) hangUp() {
	for c := range l.open {
		c.Close()
	}
}

func (l *Line) end() {
	l.listener.Close()
	close(l.over)
	l.mu.Lock()
	l.ended = true
	l.hangUp()
	l.mu.Unlock()
	l.work.Wait()
}

func (l *Line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return // the test is over
		}
		l.work.Go(func() { l.carry(near) })
	}
}

// carry passes on both ways what one connection brings.
func (l *Line) carry(near net.Conn) {
	defer l.drop(near)
	frozen := l.fate()
	if !l.take(near) {
		return
	}
	far, err := net.Dial("tcp", l.to())
	if err != nil {
		return // nobody is there: the caller sees its connection end
	}
	defer l.drop(far)
	if !l.take(far) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { l.pass(near, far, frozen) })
	l.pass(far, near, frozen)
	back.Wait()
}

// fate is closed when what opens now is frozen.
func (l *Line) fate() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frozen
}

// pass copies until one side ends, and then ends both; or until they are frozen, and then keeps quiet.
func (l *Line) pass(to, from net.Conn, frozen <-chan struct{}) {
	// How it ended is the business of those who talk.
	_, _ = io.Copy(&tap{to, frozen}, from)
	select {
	case <-frozen:
		<-l.over
	default:
	}
	to.Close()
	from.Close()
}

// A tap is a connection that takes nothing once it is frozen.
type tap struct {
	net.Conn
	frozen <-chan struct{}
}

var errFrozen = errors.New("the line is frozen")

func (t *tap) Write(b []byte) (int, error) {
	select {
	case <-t.frozen:
		return 0, errFrozen
	default:
		return t.Conn.Write(b)
	}
}

func (l *Line) take(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut || l.ended {
		return false
	}
	l.open[c] = true
	return true
}

func (l *Line) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	c.Close()
}
