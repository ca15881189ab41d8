package catchup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// access is the search index as this process can reach it: to write, or only
// to read while another process writes, or not at all until it is rebuilt.
type access struct {
	fs      disk.FS
	dir     string
	trouble func(error)

	mu     sync.RWMutex // held for reading by every use of index, except a compaction
	index  *search.Index
	why    error // that index is nil
	tried  time.Time
	closed bool

	compacting atomic.Pointer[context.CancelFunc]
}

// indexGather lets the steps that several asks make one after the other reach
// the disk as one.
const indexGather = 50 * time.Millisecond

// ready opens the index if it is not open. Errors: search.ErrLocked,
// *search.SchemaError, *search.DamagedError, ErrClosed.
func (a *access) ready() error {
	a.mu.RLock()
	open := a.index != nil
	a.mu.RUnlock()
	if open {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open()
}

func (a *access) open() error {
	switch {
	case a.closed:
		return ErrClosed
	case a.index != nil:
		return nil
	case a.why != nil && time.Since(a.tried) < retryLock:
		return a.why
	}
	a.tried = time.Now()
	a.index, a.why = search.Open(a.dir, search.Options{FS: a.fs, Trouble: a.trouble, Gather: indexGather})
	return a.why
}

// reopen lets go of the index and opens the one that is in its place now.
func (a *access) reopen() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopCompaction()
	if a.index != nil {
		// Its folder may be gone; whatever it had not written is in the log.
		if err := a.index.Close(); err != nil {
			a.trouble(err)
		}
	}
	a.index, a.why = nil, nil
	return a.open()
}

func (a *access) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopCompaction()
	a.closed = true
	if a.index == nil {
		return nil
	}
	err := a.index.Close()
	a.index = nil
	return err
}

// write calls fn with the index. One that was rebuilt or removed beneath us is
// opened again first.
func (a *access) write(fn func(*search.Index) error) error {
	for range 2 {
		if err := a.ready(); err != nil {
			return err
		}
		err := a.with(fn)
		if !errors.Is(err, search.ErrReplaced) && !errors.Is(err, search.ErrClosed) {
			return err
		}
		if err := a.reopen(); err != nil {
			return err
		}
	}
	return ErrBehind
}

func (a *access) with(fn func(*search.Index) error) error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.index == nil {
		return search.ErrClosed
	}
	return fn(a.index)
}

// rows is what a writer and a reader of the index have in common.
type rows interface {
	Ask(context.Context, search.Query) (search.Result, error)
	Mark(space string) (search.Mark, bool, error)
	IDs(space string, fn func(event.ID) error) error
	Meanings(space string, fn func(event.ID, embed.Vector) error) error
}

// read calls fn with the index, or with what another process has written of
// it.
func (a *access) read(fn func(rows) error) error {
	if err := a.ready(); errors.Is(err, search.ErrLocked) {
		return a.peek(fn)
	} else if err != nil {
		return err
	}
	return a.with(func(x *search.Index) error { return fn(x) })
}

// peek judges nothing: a reader may meet files that are just being written,
// and damage is for the owner to find and to mend.
func (a *access) peek(fn func(rows) error) error {
	r, err := search.OpenReader(a.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBehind, err)
	}
	defer r.Close()
	if err := fn(r); err != nil {
		return fmt.Errorf("%w: %w", ErrBehind, err)
	}
	return nil
}

func (a *access) mark(space string) (search.Mark, error) {
	var m search.Mark
	err := a.read(func(x rows) (err error) {
		m, _, err = x.Mark(space)
		return err
	})
	return m, err
}

// compact rewrites the index, so that what was deleted leaves the disk. It
// gives way to whoever has to close the index; without an index of our own
// there is nothing to do.
func (a *access) compact(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.compacting.Store(&cancel)
	a.mu.RLock()
	x := a.index
	a.mu.RUnlock()
	if x == nil {
		return nil
	}
	err := x.Compact(ctx)
	if ctx.Err() != nil || errors.Is(err, search.ErrClosed) || errors.Is(err, search.ErrReplaced) {
		return nil // the index that follows is a new one
	}
	return err
}

// stopCompaction is called with mu held for writing: a compaction that has the
// index to be closed has left its cancel function before.
func (a *access) stopCompaction() {
	if cancel := a.compacting.Load(); cancel != nil {
		(*cancel)()
	}
}
