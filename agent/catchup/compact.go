package catchup

import (
	"sync"
	"time"
)

// settleTime is how long to wait for more deletions before the index is
// rewritten.
const settleTime = time.Second

// A sweeper rewrites the index in the background after something was deleted
// that must leave the disk: a deleted row stays in its file until then.
type sweeper struct {
	mu      sync.Mutex
	wanted  bool
	running bool
}

// want says whether somebody has to be started for it.
func (s *sweeper) want() (start bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = true
	start = !s.running
	s.running = true
	return start
}

// next says whether there is more to do; if not, the sweeper has ended.
func (s *sweeper) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.wanted = s.wanted, false
	return s.running
}

// sweepSoon has the index rewritten shortly.
func (k *Keeper) sweepSoon() {
	if !k.sweeper.want() {
		return
	}
	started := k.background(func() {
		for k.sweeper.next() {
			select {
			case <-time.After(settleTime):
			case <-k.ctx.Done():
				return
			}
			k.report(k.access.compact(k.ctx))
		}
	})
	if !started {
		k.sweeper.next()
	}
}

// background runs work that Close waits for; false if the Keeper is closed.
func (k *Keeper) background(work func()) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.work.Go(work)
	return true
}
