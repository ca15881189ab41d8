package search

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"cairn/internal/disk"
)

// Options say how an Index works. The zero Options will do.
type Options struct {
	// Trouble is told when a step that Apply acknowledged cannot be written to
	// disk, or segments cannot be merged. The Index keeps answering and tries
	// again. It is called from other goroutines and must not call the Index.
	Trouble func(error)
	// FS is the file system that is written to; nil is that of the system.
	FS disk.FS

	// Gather is how long steps may stay in memory, so that several are written
	// to disk together; 0 is for a few milliseconds. Close takes up to that long.
	Gather time.Duration

	pause time.Duration // see directory; 0 is the default
}

// An Index finds notes and takes in new ones. It is safe for concurrent use;
// steps are applied one after the other, and searches do not wait for them.
type Index struct {
	home       home
	generation string
	lock       *disk.FileLock
	health     health

	mu     sync.RWMutex // held for reading by every call, for writing by Close
	closed bool
	writer *writer
	views  viewCache

	applying sync.Mutex // one step at a time; taken after mu
}

// Open opens the index in dir for reading and writing and creates it if it is
// missing. The caller closes it.
//
// If another process has it open the error is ErrLocked, at once. A
// *SchemaError and a *DamagedError say that it has to be rebuilt.
func Open(dir string, opt Options) (*Index, error) {
	fsys := opt.FS
	if fsys == nil {
		fsys = disk.OS
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	h := home{fsys: fsys, dir: dir}
	lock, err := lockHome(h, lockName)
	if err != nil {
		return nil, err
	}
	x := &Index{home: h, lock: lock, health: health{dir: dir}}
	if err := x.open(opt); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return x, nil
}

// lockHome is ErrLocked, with whose it is, if the lock is taken.
func lockHome(h home, name string) (*disk.FileLock, error) {
	lock, err := disk.TryLock(h.path(name))
	if _, ok := errors.AsType[*disk.LockedError](err); ok {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	return lock, nil
}

func (x *Index) open(opt Options) (err error) {
	defer x.health.watch(&err)
	if x.generation, err = x.home.ready(); err != nil {
		return err
	}
	dir := newDirectory(x.home.fsys, x.home.path(x.generation))
	if opt.pause > 0 {
		dir.pause = opt.pause
	}
	dir.spoiled = x.health.spoiled
	if err := dir.sweep(); err != nil {
		return fmt.Errorf("tidy the search index: %w", err)
	}
	if x.writer, err = openWriter(dir, opt, false); err != nil {
		return &DamagedError{Dir: x.home.dir, Err: err}
	}
	// Damage that can be seen is seen now, before Bluge works on it in
	// goroutines of its own.
	if err := x.withView(func(*view) error { return nil }); err != nil {
		return errors.Join(err, x.writer.close())
	}
	return nil
}

// ready is the generation to open, made if there is none, with no leftovers
// of others around it.
func (h home) ready() (string, error) {
	name, err := h.current()
	if err != nil {
		return "", err
	}
	if rebuild, err := lockHome(h, rebuildName); err == nil {
		defer rebuild.Unlock()
		if err := h.sweep(name); err != nil {
			return "", fmt.Errorf("remove former search indexes: %w", err)
		}
	}
	if name != "" {
		return name, h.checkSchema(name)
	}
	if name, err = h.create(); err == nil {
		err = h.setCurrent(name)
	}
	if err != nil {
		return "", fmt.Errorf("create the search index: %w", err)
	}
	return name, nil
}

// use keeps the Index open until the returned function is called.
func (x *Index) use() (done func(), err error) {
	x.mu.RLock()
	err = x.health.err()
	if x.closed {
		err = ErrClosed
	}
	if err != nil {
		x.mu.RUnlock()
		return nil, err
	}
	return x.mu.RUnlock, nil
}

// Close waits for calls under way and until acknowledged steps are on disk,
// then lets go of the folder. Further calls of it do nothing. If steps could
// not be written the error says so; the next catch-up will bring them again.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	x.views.drop()
	if x.health.err() != nil {
		return errors.Join(x.writer.abandon(), x.lock.Unlock())
	}
	return errors.Join(x.writer.close(), x.lock.Unlock())
}
