package repository

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// tidyEvery is after how many pushes it is looked whether the small packs they
// leave should be joined.
const tidyEvery = 32

// A tidier puts a repository in order now and then, beside its sessions.
type tidier struct {
	ctx     context.Context
	cancel  context.CancelFunc
	pushes  atomic.Int64
	running atomic.Bool
	work    sync.WaitGroup
}

func newTidier() *tidier {
	ctx, cancel := context.WithCancel(context.Background())
	return &tidier{ctx: ctx, cancel: cancel}
}

// after counts a push, and starts to tidy up when it is time.
func (t *tidier) after(r *Repository) {
	if t.pushes.Add(1)%tidyEvery == 0 {
		t.start(r)
	}
}

// start tidies up, unless that is under way.
func (t *tidier) start(r *Repository) {
	if t.ctx.Err() != nil || !t.running.CompareAndSwap(false, true) {
		return
	}
	t.work.Go(func() {
		defer t.running.Store(false)
		_, err := r.log.Tidy(t.ctx)
		if err = errors.Join(err, r.keepCount(t.ctx)); err != nil && t.ctx.Err() == nil {
			// Nothing is lost: the packs stay as they are.
			r.set.log.Warn("tidy up", "space", r.Space().Name, "err", err)
		}
	})
}

func (t *tidier) stop() {
	t.cancel()
	t.work.Wait()
}
