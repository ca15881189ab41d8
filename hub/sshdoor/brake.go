package sshdoor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// troubled is how long a person pays for what the hub reads of them after something of theirs was refused.
	troubled = time.Minute
	// mostDebt is how long they wait at most.
	mostDebt = 10 * time.Second
)

// A brake has people of whom something was refused before all of it was read wait before their next session: for as long as
// what they send takes at a modest rate. Until then it costs nothing: a session that was not opened is sent nothing.
// Whoever sends notes does not notice. Who has the hub read for nothing takes its processor from others no more.
type brake struct {
	rate float64 // bytes a second that are read of one person

	paying atomic.Int32 // how many are in people

	mu     sync.Mutex // guards people
	people map[string]*debtor
}

type debtor struct {
	until time.Time
	free  time.Time // when a session may be opened
}

func newBrake(l Limits) *brake {
	return &brake{rate: float64(l.Troubled), people: map[string]*debtor{}}
}

// trouble begins the time in which a person pays, or begins it anew.
func (b *brake) trouble(person string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.people[person] == nil {
		b.people[person] = &debtor{free: now}
	}
	b.people[person].until = now.Add(troubled)
	b.paying.Store(int32(len(b.people)))
}

// charge counts n bytes that were read of a person.
func (b *brake) charge(person string, n int, now time.Time) {
	if b.paying.Load() == 0 { // as for almost every read
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.people[person]
	if p == nil {
		return
	}
	if now.After(p.until) {
		b.forgive(now)
		return
	}
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	if most := now.Add(mostDebt); p.free.After(most) {
		p.free = most
	}
}

// debt is how long a person's next session has to wait.
func (b *brake) debt(person string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.people[person]; p != nil {
		return max(p.free.Sub(now), 0)
	}
	return 0
}

// wait waits for what the person owes now. What other sessions of theirs add
// meanwhile is for those who come later: nobody waits longer than mostDebt.
func (b *brake) wait(ctx context.Context, person string) error {
	d := b.debt(person, time.Now())
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// count is how many people pay now.
func (b *brake) count(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgive(now)
	return len(b.people)
}

// forgive forgets those whose time is over. The caller holds mu.
func (b *brake) forgive(now time.Time) {
	for person, p := range b.people {
		if now.After(p.until) {
			delete(b.people, person)
		}
	}
	b.paying.Store(int32(len(b.people)))
}
