package gitstore

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"cairn/internal/disk"
)

// A Store is an open repository. It is safe for concurrent use, also with other Stores and other programs on the same
// repository.
type Store struct {
	fs      disk.FS
	dir     string
	objects string        // the folder of the objects
	borrows bool          // it may borrow objects from elsewhere: for reading only
	level   int           // zlib level of the objects we write
	refWait time.Duration // how long to wait for another program's ref lock

	closed   atomic.Bool
	lockLeft atomic.Bool // a lock file of ours could not be removed
	files    handles
	cache    *Cache
	packs    packList

	mu    sync.Mutex     // guards what follows
	held  *disk.FileLock // the append lock, while this Store holds it
	keeps []string       // .keep files of packs that no ref may lead to yet
}

// An Option changes how Open opens a repository.
type Option func(*Store)

// WithLevel sets the zlib level, 0 (store) to 9 (smallest), at which new objects are written. The default is 1: most of
// the gain for a fraction of the time.
func WithLevel(level int) Option {
	return func(s *Store) { s.level = min(max(level, 0), 9) }
}

// Open opens the bare repository in dir. It reads a few small files, whatever the size of the repository, and writes
// nothing but the removal of what crashed pushes left in quarantine.
//
// A repository that cannot be written safely is refused: ErrNotRepository, ErrDetached, ErrShallow, ErrPartialClone,
// *ForeignFormatError, *GarbledRefError. A folder that cannot be read gives the error of the file system. The caller
// closes the Store.
func Open(fsys disk.FS, dir string, options ...Option) (*Store, error) {
	s := newStore(fsys, dir, options...)
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if err := s.sweepQuarantines(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return s, nil
}

func newStore(fsys disk.FS, dir string, options ...Option) *Store {
	s := &Store{fs: fsys, dir: filepath.Clean(dir), level: 1, refWait: 2 * time.Second}
	s.objects = s.path("objects")
	for _, o := range options {
		o(s)
	}
	s.files.init(fsys, maxOpenFiles)
	s.cache = NewCache(storeCacheBytes)
	s.packs.init(fsys, filepath.Join(s.objects, "pack"), &s.files, s.forget)
	return s
}

// Dir returns the repository's folder.
func (s *Store) Dir() string { return s.dir }

// Close releases what the Store holds. Afterwards every call returns ErrClosed; calls that are under way finish.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return ErrClosed
	}
	s.forgetAll()
	err := s.releaseKeeps()
	if cerr := s.files.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("close repository %s: %w", s.dir, err)
	}
	return nil
}

// alive is asked first by every exported method.
func (s *Store) alive() error {
	if s.closed.Load() {
		return fmt.Errorf("%w: %s", ErrClosed, s.dir)
	}
	return nil
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}
