package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// epochs follows the purges of one repository, which another process may make.
type epochs struct {
	work   sync.WaitGroup // in the background
	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex // guards what follows
	seen      plumbing.Hash
	known     bool                                  // seen has been read
	fetches   map[*context.CancelCauseFunc]struct{} // under way
	clearing  bool
	clearedAt time.Time // when that was last tried
}

func newEpochs() *epochs {
	e := &epochs{fetches: map[*context.CancelCauseFunc]struct{}{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// errPurged ends a fetch that may be sending what is not there any more.
var errPurged = &problem.Problem{
	Code:    problem.Busy,
	Message: "events were purged from this space meanwhile",
	Hint:    "fetch again",
}

// fetch is the context of a fetch, which a purge ends. The caller calls done.
func (e *epochs) fetch(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fetches[&cancel] = struct{}{}
	return ctx, func() {
		cancel(nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.fetches, &cancel)
	}
}

// isNew says whether the epoch is another than was noted. The first is noted.
func (e *epochs) isNew(now plumbing.Hash) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known {
		e.seen, e.known = now, true
	}
	return e.seen != now
}

// moved notes a new epoch and ends the fetches under way. It is false if
// somebody else has noted it meanwhile.
func (e *epochs) moved(now plumbing.Hash) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == now {
		return false
	}
	e.seen = now
	for cancel := range e.fetches {
		(*cancel)(errPurged)
	}
	return true
}

// Look notices a purge that another process made, tells the watchers and
// finishes one that broke off. It is cheap when there is nothing to do.
func (r *Repository) Look(ctx context.Context) error {
	head, epoch, err := r.tips(ctx)
	if err != nil {
		return err
	}
	if !r.epochs.isNew(epoch) {
		return nil
	}
	// What fails before the epoch is noted is done by the next look.
	if err := r.log.Store().Refresh(); err != nil {
		return err
	}
	if !r.epochs.moved(epoch) {
		return nil
	}
	r.set.feed.tell(r, eventlog.EpochRef, epoch)
	r.set.feed.tell(r, head.Ref, head.Commit)
	r.tidy.start() // the history is counted again before somebody clones it
	return nil
}

// maxLooks is how often the tips are read again because a purge moves them.
const maxLooks = 10

// tips are the head and the epoch of one moment. What a purge that broke off
// has left is finished first.
func (r *Repository) tips(ctx context.Context) (eventlog.Head, plumbing.Hash, error) {
	if err := r.finishPurge(ctx); err != nil {
		return eventlog.Head{}, plumbing.ZeroHash, err
	}
	for range maxLooks {
		before, err := r.log.EpochCommit()
		if err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
		head, err := r.log.Head()
		if err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
		after, err := r.log.EpochCommit()
		if err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
		half, err := r.halfWay(head.Commit)
		if err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
		if before == after && !half {
			return head, after, nil
		}
		if err := r.finishPurge(ctx); err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
	}
	return eventlog.Head{}, plumbing.ZeroHash, errPurged
}

// halfWay says whether the newest purge is recorded and head has not followed.
func (r *Repository) halfWay(head plumbing.Hash) (bool, error) {
	records, err := r.log.Purges()
	if err != nil || len(records) == 0 {
		return false, err
	}
	return plumbing.Hash(records[len(records)-1].From) == head, nil
}

// isStill says whether a push that was checked in an epoch may land on head:
// nothing was purged since. The caller holds the lock.
func (r *Repository) isStill(epoch, head plumbing.Hash) (bool, error) {
	now, err := r.log.EpochCommit()
	if err != nil || now != epoch {
		return false, err
	}
	half, err := r.halfWay(head)
	return !half, err
}

// finishPurge goes on with a purge that broke off: the branch follows at once,
// and the old objects leave the disk in the background.
func (r *Repository) finishPurge(ctx context.Context) error {
	pending, err := r.log.Store().IsPending()
	if err != nil || !pending {
		return err
	}
	if err := r.followPurge(ctx); err != nil {
		return fmt.Errorf("finish a purge: %w", err)
	}
	r.clearSoon()
	return nil
}

// followPurge moves the branch to where the newest purge says, if it has not
// been. The lock makes it wait for a purge that is just about to.
func (r *Repository) followPurge(ctx context.Context) (err error) {
	head, err := r.log.Head()
	if err != nil {
		return err
	}
	if half, err := r.halfWay(head.Commit); err != nil || !half {
		return err
	}
	lock, err := r.log.Store().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if head, err = r.log.Head(); err != nil {
		return err
	}
	if half, err := r.halfWay(head.Commit); err != nil || !half {
		return err
	}
	records, err := r.log.Purges()
	if err != nil {
		return err
	}
	to := plumbing.Hash(records[len(records)-1].To)
	return r.log.Store().UpdateRef(event.MainRef, head.Commit, to)
}

// clearAgain is how long to wait before the old objects are tried again.
const clearAgain = time.Minute

// clearSoon takes the old objects off the disk beside everything else.
func (r *Repository) clearSoon() {
	e := r.epochs
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.clearing || e.ctx.Err() != nil || time.Since(e.clearedAt) < clearAgain {
		return
	}
	e.clearing = true
	e.work.Go(func() {
		_, err := r.log.Expunge(e.ctx)
		e.mu.Lock()
		e.clearing, e.clearedAt = false, time.Now()
		e.mu.Unlock()
		if err != nil && e.ctx.Err() == nil {
			r.set.log.Warn("take purged events off the disk", "space", r.Space().Name, "err", err)
		}
	})
}

func (e *epochs) stop() {
	e.mu.Lock()
	e.cancel()
	e.mu.Unlock()
	e.work.Wait()
}
