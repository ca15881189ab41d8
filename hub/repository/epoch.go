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

	mu        sync.Mutex                            // guards what follows
	seen      plumbing.Hash                         // epoch that the watchers know of
	fetches   map[*context.CancelCauseFunc]struct{} // under way
	clearing  bool
	clearedAt time.Time // when that was last tried
}

// newEpochs follows what is purged after the epoch seen.
func newEpochs(seen plumbing.Hash) *epochs {
	e := &epochs{seen: seen, fetches: map[*context.CancelCauseFunc]struct{}{}}
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

// isNew says whether the epoch is another than was noted.
func (e *epochs) isNew(now plumbing.Hash) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
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
	for range maxLooks {
		if err := r.finishPurge(ctx); err != nil {
			return eventlog.Head{}, plumbing.ZeroHash, err
		}
		if head, epoch, still, err := r.glance(); err != nil || still {
			return head, epoch, err
		}
	}
	return eventlog.Head{}, plumbing.ZeroHash, errPurged
}

// glance reads the head and the epoch; still says that they belong together: no
// purge came between, or is half-way.
func (r *Repository) glance() (head eventlog.Head, epoch plumbing.Hash, still bool, err error) {
	if epoch, err = r.log.EpochCommit(); err != nil {
		return head, epoch, false, err
	}
	if head, err = r.log.Head(); err != nil {
		return head, epoch, false, err
	}
	still, err = r.isStill(epoch, head.Commit)
	return head, epoch, still, err
}

// isStill says whether the epoch is the present one and head has followed it.
// Whoever lands a push on head holds the lock, so that it stays true.
func (r *Repository) isStill(epoch, head plumbing.Hash) (bool, error) {
	now, err := r.log.EpochCommit()
	if err != nil || now != epoch {
		return false, err
	}
	to, err := r.yetTo(head)
	return to.IsZero(), err
}

// yetTo is where the branch has yet to go from head: to the history that the
// newest purge has left. It is zero if the branch has been moved.
func (r *Repository) yetTo(head plumbing.Hash) (plumbing.Hash, error) {
	records, err := r.log.Purges()
	if err != nil || len(records) == 0 {
		return plumbing.ZeroHash, err
	}
	last := records[len(records)-1]
	if plumbing.Hash(last.From) != head {
		return plumbing.ZeroHash, nil
	}
	return plumbing.Hash(last.To), nil
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
	if _, to, err := r.lag(); err != nil || to.IsZero() {
		return err
	}
	lock, err := r.log.Store().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	head, to, err := r.lag()
	if err != nil || to.IsZero() {
		return err
	}
	return r.log.Store().UpdateRef(event.MainRef, head, to)
}

// lag is the head of the branch, and yetTo from there.
func (r *Repository) lag() (head, to plumbing.Hash, err error) {
	at, err := r.log.Head()
	if err != nil {
		return head, to, err
	}
	to, err = r.yetTo(at.Commit)
	return at.Commit, to, err
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
