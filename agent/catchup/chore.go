package catchup

import (
	"sync"
	"time"
)

// A chore is work that is done in the background, once for all who wanted it
// before it began. Whoever wants it later has it done again.
type chore struct {
	mu      sync.Mutex
	wanted  bool
	running bool
	hurried chan struct{} // closed when somebody cannot wait; nil if nobody has asked since the work began
}

// want says whether somebody has to be started for it.
func (c *chore) want() (start bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = true
	start = !c.running
	c.running = true
	return start
}

// next says whether there is more to do; if not, the work has ended.
func (c *chore) next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = c.wanted
	return c.running
}

// pause is closed when somebody hurries, and at once if somebody has since the
// work last began.
func (c *chore) pause() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hurrying()
}

// hurry ends the pause under way or the next one.
func (c *chore) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := c.hurrying()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// hurrying is called with mu held.
func (c *chore) hurrying() chan struct{} {
	if c.hurried == nil {
		c.hurried = make(chan struct{})
	}
	return c.hurried
}

// begin is called right before the work: from here on a want is a new one.
func (c *chore) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted, c.hurried = false, nil
}

// soon has a chore done shortly, together with what else wants it within the
// pause. Close ends it.
func (k *Keeper) soon(c *chore, pause time.Duration, do func()) {
	if !c.want() {
		return
	}
	k.background(func() {
		for c.next() {
			select {
			case <-time.After(pause):
			case <-c.pause():
			case <-k.ctx.Done():
				return
			}
			c.begin()
			do()
		}
	})
}

// background runs work that Close waits for; none if the Keeper is closed.
func (k *Keeper) background(work func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.work.Go(work)
	}
}
