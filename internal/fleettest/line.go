package fleettest

import (
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

	mu    sync.Mutex
	cut   bool
	ended bool
	open  map[net.Conn]bool
}

// NewLine is a line that leads to the address that to returns, until the test ends.
func NewLine(t testing.TB, to func() string) *Line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{listener: listener, to: to, open: map[net.Conn]bool{}}
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
	back.Go(func() { pass(near, far) })
	pass(far, near)
	back.Wait()
}

// pass copies until one side ends, and then ends both.
func pass(to, from net.Conn) {
	// How it ended is the business of those who talk.
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
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
