package search

import (
	"context"
	"fmt"
	"sync"

	"github.com/blugelabs/bluge/index"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/search/embed"
)

// A Reader searches an index that another process may be writing to. It shows
// the index as it was on disk when it was opened. It is safe for concurrent
// use.
type Reader struct {
	health health

	mu   sync.RWMutex
	snap *index.Snapshot // nil once closed
	view *view
}

// OpenReader opens the index in dir for searching only; it takes no lock and
// creates nothing. The caller closes it. Errors are those of Open, without
// ErrLocked; where there is no index yet it is one that fs.ErrNotExist is in.
func OpenReader(dir string) (*Reader, error) {
	h := home{fsys: disk.OS, dir: dir}
	name, err := h.current()
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, fmt.Errorf("open the search index in %s: %w", dir, errNoIndex)
	}
	if err := h.checkSchema(name); err != nil {
		return nil, err
	}
	var r *Reader
	for range openAttempts {
		if r, err = openReader(h, name); err == nil {
			break
		}
	}
	return r, err
}

// openAttempts is how often OpenReader tries: the writer may remove a file
// just as it is about to be opened.
const openAttempts = 3

func openReader(h home, name string) (r *Reader, err error) {
	r = &Reader{health: health{dir: h.dir}}
	defer r.health.watch(&err)
	snap, err := index.OpenReader(blugeConfig(newDirectory(h.fsys, h.path(name))))
	if err != nil {
		return nil, &DamagedError{Dir: h.dir, Err: err}
	}
	v, err := newView(snap, h.dir, nil)
	if err != nil {
		snap.Close()
		return nil, err
	}
	r.snap, r.view = snap, v
	return r, nil
}

func (r *Reader) read(fn func(*view) error) (err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.snap == nil {
		return ErrClosed
	}
	if err := r.health.err(); err != nil {
		return err
	}
	defer r.health.watch(&err)
	return fn(r.view)
}

// Ask is Index.Ask.
func (r *Reader) Ask(ctx context.Context, q Query) (out Result, err error) {
	err = r.read(func(v *view) (err error) {
		out, err = v.ask(ctx, q)
		return err
	})
	return out, err
}

// Mark is Index.Mark.
func (r *Reader) Mark(space string) (m Mark, ok bool, err error) {
	err = r.read(func(v *view) (err error) {
		m, ok, err = v.mark(space)
		return err
	})
	return m, ok, err
}

// Count is Index.Count.
func (r *Reader) Count(space string) (n int, err error) {
	err = r.read(func(v *view) (err error) {
		n, err = v.count(space)
		return err
	})
	return n, err
}

// IDs is Index.IDs.
func (r *Reader) IDs(space string, fn func(event.ID) error) error {
	return r.read(func(v *view) error { return v.ids(context.Background(), space, fn) })
}

// Meanings is Index.Meanings.
func (r *Reader) Meanings(space string, fn func(event.ID, embed.Vector) error) error {
	return r.read(func(v *view) error { return v.meanings(space, fn) })
}

// Close lets go of the files. Further calls of it do nothing.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.snap == nil {
		return nil
	}
	err := r.snap.Close()
	r.snap, r.view = nil, nil
	return err
}
