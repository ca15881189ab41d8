package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// A lockQueue lines up the callers of one process for the lock on one path. A blocking lock call of the system cannot be
// canceled, so it is made by a goroutine of its own that outlives its callers: there is never more than one for a path,
// and when it gets the lock it hands it to whoever waits by then, or lets go of it.
//
// All fields are guarded by queues.
type lockQueue struct {
	path    string
	busy    bool         // this process holds the lock, or is trying to get it
	waiting []chan grant // in order of arrival, each with room for the one grant it will get
}

type grant struct {
	lock *FileLock
	err  error
}

func (q *lockQueue) wait(ctx context.Context) (*FileLock, error) {
	l, err := q.try()
	if _, taken := errors.AsType[*LockedError](err); !taken {
		return l, err
	}
	w := q.enqueue()
	select {
	case g := <-w:
		return g.lock, g.err
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("wait for %w: %w", lockedError(q.path), ctx.Err()), q.leave(w))
	}
}

func (q *lockQueue) try() (*FileLock, error) {
	queues.Lock()
	if q.busy || len(q.waiting) > 0 {
		queues.Unlock()
		return nil, lockedError(q.path)
	}
	q.busy = true
	queues.Unlock()
	return q.take(tryLockFile)
}

// take makes one attempt at the lock; q.busy is already set.
func (q *lockQueue) take(lockFile func(*os.File) (bool, error)) (*FileLock, error) {
	f, err := openLockFile(q.path)
	if err != nil {
		q.idle()
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	locked, err := lockFile(f)
	if err == nil && !locked {
		err = lockedError(q.path)
	}
	if err != nil {
		err = errors.Join(err, f.Close())
		q.idle()
		return nil, err
	}
	return newFileLock(f, q)
}

func (q *lockQueue) enqueue() chan grant {
	w := make(chan grant, 1)
	queues.Lock()
	defer queues.Unlock()
	q.waiting = append(q.waiting, w)
	q.next()
	return w
}

// leave gives up waiting on w. If the lock was granted at the last moment it is passed on.
func (q *lockQueue) leave(w chan grant) error {
	queues.Lock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		queues.Unlock()
		return nil
	}
	queues.Unlock()
	if g := <-w; g.lock != nil {
		return g.lock.Unlock()
	}
	return nil
}

// next starts the wait for the system's lock if somebody wants it. The caller holds queues.
func (q *lockQueue) next() {
	if q.busy {
		return
	}
	if len(q.waiting) == 0 {
		delete(queues.byPath, q.path)
		return
	}
	q.busy = true
	go q.serve()
}

// serve waits for the system's lock and hands it over.
func (q *lockQueue) serve() {
	l, err := q.take(waitLockFile)
	queues.Lock()
	if len(q.waiting) > 0 {
		w := q.waiting[0]
		q.waiting = q.waiting[1:]
		queues.Unlock()
		w <- grant{l, err}
		return
	}
	queues.Unlock()
	if l != nil {
		// Nobody is left to hear of an error, and closing the file has freed the lock in any case.
		_ = q.release(l.file)
	}
}

// release lets go of the system's lock before the next in this process may wait for it: another process that waited
// longer comes first.
func (q *lockQueue) release(f *os.File) error {
	err := errors.Join(unlockFile(f), f.Close())
	q.idle()
	return err
}

func (q *lockQueue) idle() {
	queues.Lock()
	defer queues.Unlock()
	q.busy = false
	q.next()
}
