package sshdoor

import (
	"errors"
	"time"
)

// enterSession counts a session of v; false when it must not start. Once the
// door is stopping none does, so that stop knows what it waits for.
func (d *Door) enterSession(v *visitor) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.stopping:
		return false
	default:
	}
	if v.sessions >= d.limits.Sessions {
		return false
	}
	v.sessions++
	d.running.Add(1)
	return true
}

func (d *Door) leaveSession(v *visitor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v.sessions--
	d.running.Done()
}

// stop ends everything that runs: what is idle at once, what works when it is
// done or when the grace is over.
func (d *Door) stop() error {
	d.mu.Lock()
	close(d.stopping)
	d.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		d.running.Wait()
		close(ended)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	grace := time.After(d.limits.Grace)
	for {
		select {
		case <-ended:
			return nil
		case <-tick.C:
			d.closeAll(func(v *visitor) bool { return v.sessions == 0 })
		case <-grace:
			d.closeAll(func(*visitor) bool { return true })
			return d.lastWait(ended)
		}
	}
}

// lastWait gives commands whose connection was cut the time to notice.
func (d *Door) lastWait(ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case <-time.After(d.limits.Grace):
		return errors.New("serve ssh: commands are still running although their connections were closed")
	}
}

func (d *Door) closeAll(which func(*visitor) bool) {
	d.mu.Lock()
	var list []*visitor
	for v := range d.visitors {
		if which(v) {
			list = append(list, v)
		}
	}
	d.mu.Unlock()
	for _, v := range list {
		v.Close()
	}
}
