package repository

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"cairn/sync/eventlog"
)

// tidyEvery is after how many pushes it is looked whether the small packs they
// leave should be joined.
const tidyEvery = 32

// A tidier puts a repository in order, beside its sessions: now and then while
// it is pushed to, and once it is at rest.
type tidier struct {
	r      *Repository
	ctx    context.Context
	cancel context.CancelFunc
	pushes atomic.Int64
	work   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	running bool
	rest    *time.Timer // until the next look at a repository that is not tidy yet

	upkeep *eventlog.Upkeep // of who set running
}

func newTidier(r *Repository) *tidier {
	t := &tidier{r: r, upkeep: eventlog.NewUpkeep(r.log, r.set.limits.Rest)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// after counts a push, and starts to tidy up when it is time.
func (t *tidier) after() {
	if t.pushes.Add(1)%tidyEvery == 0 {
		t.start()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.later()
}

// later looks again when the repository may be at rest. Called with mu held.
func (t *tidier) later() {
	switch {
	case t.ctx.Err() != nil:
	case t.rest == nil:
		t.rest = time.AfterFunc(t.r.set.limits.Rest, t.start)
	default:
		t.rest.Reset(t.r.set.limits.Rest)
	}
}

// start tidies up, unless that is under way.
func (t *tidier) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil || t.running {
		return
	}
	t.running = true
	t.work.Go(t.tidy)
}

func (t *tidier) tidy() {
	_, err := t.upkeep.Look(t.ctx, time.Now())
	if err = errors.Join(err, t.r.keepCount(t.ctx)); err != nil && t.ctx.Err() == nil {
		// Nothing is lost: the packs stay as they are.
		t.r.set.log.Warn("tidy up", "space", t.r.Space().Name, "err", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = false
	if err == nil && !t.upkeep.Done() {
		t.later()
	}
}

func (t *tidier) stop() {
	t.mu.Lock()
	t.cancel()
	if t.rest != nil {
		t.rest.Stop()
	}
	t.mu.Unlock()
	t.work.Wait()
}
