package hub

import "sync"

// A news wakes everybody who waits for the next change of something.
type news struct {
	mu      sync.Mutex
	changed chan struct{} // closed by the next change
}

func newNews() *news { return &news{changed: make(chan struct{})} }

// next is closed when something has changed after the call.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// tell says that something has changed.
func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.changed)
	n.changed = make(chan struct{})
}
