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

// A tidier joins a repository's packs now and then, beside its sessions.
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
	if t.pushes.Add(1)%tidyEvery != 0 || !t.running.CompareAndSwap(false, true) {
		return
	}
	t.work.Go(func() {
		defer t.running.Store(false)
		_, err := r.log.Store().Compact(t.ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			// Nothing is lost: the packs stay as they are.
			r.set.log.Warn("join small packs", "space", r.Space().Name, "err", err)
		}
	})
}

func (t *tidier) stop() {
	t.cancel()
	t.work.Wait()
}
