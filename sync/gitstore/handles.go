package gitstore

import (
	"errors"
	"sync"

	"cairn/internal/disk"
)

// maxOpenFiles is how many packs and indexes a Store keeps open. One folder may hold hundreds of small packs.
const maxOpenFiles = 64

// handles keeps files open between reads and closes the ones that were not used for longest.
type handles struct {
	fs  disk.FS
	max int

	mu     sync.Mutex
	open   map[string]*handle
	clock  uint64
	closed bool
}

// A handle is an open file. Its fields are guarded by handles.mu; reading the file is not.
type handle struct {
	file   disk.File
	users  int
	used   uint64
	doomed bool // no longer in handles.open: the last user closes it
}

func (h *handles) init(fsys disk.FS, max int) {
	h.fs, h.max, h.open = fsys, max, map[string]*handle{}
}

// readAt reads from the file at path, opening it if need be.
func (h *handles) readAt(path string, b []byte, at int64) (int, error) {
	f, err := h.get(path)
	if err != nil {
		return 0, err
	}
	n, err := f.file.ReadAt(b, at)
	return n, errors.Join(err, h.put(f))
}

func (h *handles) get(path string) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	f, ok := h.open[path]
	if !ok {
		file, err := disk.Open(h.fs, path)
		if err != nil {
			return nil, err
		}
		f = &handle{file: file}
		h.open[path] = f
	}
	h.clock++
	f.used = h.clock
	f.users++
	return f, nil
}

func (h *handles) put(f *handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.users--
	if f.doomed && f.users == 0 {
		return f.file.Close()
	}
	return h.trim()
}

// trim closes idle files while there are too many. The caller holds mu.
func (h *handles) trim() error {
	for len(h.open) > h.max {
		oldest := ""
		for path, f := range h.open {
			if f.users == 0 && (oldest == "" || f.used < h.open[oldest].used) {
				oldest = path
			}
		}
		if oldest == "" {
			return nil // all in use: the next put tries again
		}
		if err := h.doom(oldest); err != nil {
			return err
		}
	}
	return nil
}

// doom takes a file out of the table and closes it, now or after its last user. The caller holds mu.
func (h *handles) doom(path string) error {
	f, ok := h.open[path]
	if !ok {
		return nil
	}
	delete(h.open, path)
	f.doomed = true
	if f.users > 0 {
		return nil
	}
	return f.file.Close()
}

// drop closes the file at path, because it is about to be removed or is gone.
func (h *handles) drop(path string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doom(path)
}

func (h *handles) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for path := range h.open {
		errs = append(errs, h.doom(path))
	}
	return errors.Join(errs...)
}

// A lazyFile reads a file by way of handles.
type lazyFile struct {
	files *handles
	path  string
}

func (f lazyFile) ReadAt(b []byte, at int64) (int, error) { return f.files.readAt(f.path, b, at) }
