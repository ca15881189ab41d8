package repository

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"cairn/sync/gitstore"
)

// tidyEvery is after how many pushes it is looked whether the small packs they
// leave should be joined.
const tidyEvery = 32

// A tidier puts a repository in order, beside its sessions: now and then while
// it is pushed to, and more thoroughly once nobody has pushed for a while.
type tidier struct {
	r      *Repository
	ctx    context.Context
	cancel context.CancelFunc
	pushes atomic.Int64
	work   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	running bool
	rest    *time.Timer // until the repository is at rest
}

func newTidier(r *Repository) *tidier {
	t := &tidier{r: r}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = time.AfterFunc(r.set.limits.Rest, t.atRest)
	return t
}

// after counts a push, and starts to tidy up when it is time.
func (t *tidier) after() {
	if t.pushes.Add(1)%tidyEvery == 0 {
		t.start()
	}
	t.wait()
}

// wait has the time of rest begin anew.
func (t *tidier) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() == nil {
		t.rest.Reset(t.r.set.limits.Rest)
	}
}

// start tidies up what should not wait, unless that is under way.
func (t *tidier) start() { t.begin(t.r.log.Tidy) }

// atRest tidies up all that is worth it when nobody waits.
func (t *tidier) atRest() {
	if !t.begin(t.r.log.TidyAtRest) {
		t.wait() // less than that is under way
	}
}

// begin is false if it is being tidied up already.
func (t *tidier) begin(how func(context.Context) (gitstore.CompactStats, error)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil || t.running {
		return false
	}
	t.running = true
	t.work.Go(func() { t.tidy(how) })
	return true
}

func (t *tidier) tidy(how func(context.Context) (gitstore.CompactStats, error)) {
	_, err := how(t.ctx)
	if err = errors.Join(err, t.r.keepCount(t.ctx)); err != nil && t.ctx.Err() == nil {
		// Nothing is lost: the packs stay as they are, until the next push.
		t.r.set.log.Warn("tidy up", "space", t.r.Space().Name, "err", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = false
}

func (t *tidier) stop() {
	t.mu.Lock()
	t.cancel()
	t.rest.Stop()
	t.mu.Unlock()
	t.work.Wait()
}
