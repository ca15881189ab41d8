package gitstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
)

// A Quarantine holds objects that were received and are not part of the repository yet. Nobody else sees them until
// Publish; on any doubt Discard removes them without a trace. The remains of a process that died are removed by the next
// Open.
//
// Object, Has, HasNew and Number are safe for concurrent use with each other; the other methods are not.
type Quarantine struct {
	s    *Store
	dir  string
	lock *disk.FileLock // says that our process lives

	arrived  *received // between Arrive and Resolve
	received *received // nil before Resolve has succeeded
	cache    *Cache    // of what is read from it: what may be refused pushes nothing out of the Store's

	mu    sync.Mutex
	added map[plumbing.Hash]Object
	order []plumbing.Hash // of added
	done  bool
}

// Quarantine makes an empty quarantine in DIR/objects/incoming. The caller ends it with Discard, also after Publish, where
// that does nothing.
func (s *Store) Quarantine() (*Quarantine, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	if err := s.fs.MkdirAll(s.incoming(), 0o755); err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	for range 10 {
		q, err := s.tryQuarantine()
		if err != nil {
			return nil, fmt.Errorf("make a quarantine: %w", err)
		}
		if q != nil {
			return q, nil
		}
	}
	return nil, fmt.Errorf("make a quarantine: %s is being swept all the time", s.incoming())
}

func (s *Store) incoming() string { return s.path("objects", "incoming") }

const (
	// ownerLock is held by the process that owns a quarantine, as long as it lives.
	ownerLock = "owner.lock"
	// sweptNote in it says that the folder is about to go.
	sweptNote = "swept"
	// unownedTime is how long a folder may be without its lock file, which its owner makes at once.
	unownedTime = time.Minute
)

// tryQuarantine returns nil if a sweeper was quicker than our lock.
func (s *Store) tryQuarantine() (*Quarantine, error) {
	dir := filepath.Join(s.incoming(), strconv.FormatUint(rand.Uint64(), 36))
	if err := s.fs.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := disk.TryLock(filepath.Join(dir, ownerLock))
	if _, taken := errors.AsType[*disk.LockedError](err); taken || isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Join(err, s.fs.RemoveAll(dir))
	}
	if lock.Left() == sweptNote {
		return nil, lock.Unlock()
	}
	return &Quarantine{s: s, dir: dir, lock: lock, cache: NewCache(quarantineCacheBytes), added: map[plumbing.Hash]Object{}}, nil
}

// sweepQuarantines removes what processes that died left in quarantine.
func (s *Store) sweepQuarantines() error {
	entries, err := s.fs.ReadDir(s.incoming())
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(s.incoming(), e.Name())
		abandoned, err := s.isAbandoned(dir)
		if err == nil && abandoned {
			err = s.fs.RemoveAll(dir)
		}
		if err != nil {
			return fmt.Errorf("sweep quarantine %s: %w", e.Name(), err)
		}
	}
	return nil
}

// isAbandoned reports whether nobody owns the quarantine in dir, and sees to it that nobody can any more. The note goes
// into the lock file before the lock is given up: an owner-to-be that has opened the file meanwhile will read it.
func (s *Store) isAbandoned(dir string) (bool, error) {
	if _, err := s.fs.Stat(filepath.Join(dir, ownerLock)); isGone(err) {
		info, err := s.fs.Stat(dir)
		return err == nil && time.Since(info.ModTime()) > unownedTime, ignoreNotExist(err)
	}
	lock, err := disk.TryLock(filepath.Join(dir, ownerLock))
	if _, taken := errors.AsType[*disk.LockedError](err); taken || isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, errors.Join(lock.SetNote(sweptNote), lock.Unlock())
}

// Object returns the object with id h from the quarantine, or else from the store.
func (q *Quarantine) Object(h plumbing.Hash) (Object, error) {
	o, found, err := q.own(h)
	if err != nil {
		return Object{}, fmt.Errorf("read received object %s: %w", h, err)
	}
	if found {
		return o, nil
	}
	return q.s.Object(h)
}

// own returns the object with id h if it is in quarantine.
func (q *Quarantine) own(h plumbing.Hash) (Object, bool, error) {
	if err := q.s.alive(); err != nil {
		return Object{}, false, err
	}
	q.mu.Lock()
	o, ok := q.added[h]
	done := q.done
	q.mu.Unlock()
	if ok || done || q.received == nil {
		return o, ok, nil
	}
	// The table is in memory; the index of the pack would be read anew for each object.
	n, ok := q.received.table.find(h)
	if !ok {
		return Object{}, false, nil
	}
	o, err := q.s.load(q.cache, storedCopy{q.received.pack, q.received.table.list[n].offset}, h)
	return o, err == nil, err
}

// Has reports whether the object with id h is in the quarantine or in the store.
func (q *Quarantine) Has(h plumbing.Hash) (bool, error) {
	if q.HasNew(h) {
		return true, nil
	}
	return q.s.Has(h)
}

// HasNew reports whether the object with id h was received or added. It may be in the store as well.
func (q *Quarantine) HasNew(h plumbing.Hash) bool {
	q.mu.Lock()
	_, ok := q.added[h]
	done := q.done
	q.mu.Unlock()
	if ok || done || q.received == nil {
		return ok
	}
	_, ok = q.received.table.find(h)
	return ok
}

// Number reports whether Receive took in the object with id h, and gives each that it did a number of its own, from 0 up.
func (q *Quarantine) Number(h plumbing.Hash) (int, bool) {
	q.mu.Lock()
	done := q.done
	q.mu.Unlock()
	if done || q.received == nil {
		return 0, false
	}
	n, ok := q.received.table.find(h)
	return int(n), ok
}

// Received is how many entries the pack had that Receive took in.
func (q *Quarantine) Received() int {
	if q.received == nil {
		return 0
	}
	return len(q.received.table.list)
}

// Add puts objects that the caller made, such as those of a merge, beside the received ones.
func (q *Quarantine) Add(objs ...Object) error {
	if err := q.usable(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range objs {
		if _, ok := q.added[o.Hash]; !ok {
			q.added[o.Hash] = o
			q.order = append(q.order, o.Hash)
		}
	}
	return nil
}

func (q *Quarantine) usable() error {
	if err := q.s.alive(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done {
		return fmt.Errorf("%w: it has ended", ErrQuarantine)
	}
	return nil
}

// Discard removes everything in quarantine and ends it. It may be called again, and after Publish.
func (q *Quarantine) Discard() error {
	q.mu.Lock()
	done := q.done
	q.done = true
	q.added = nil
	q.mu.Unlock()
	if done {
		return nil
	}
	var err error
	for _, r := range []*received{q.arrived, q.received} {
		if r != nil {
			err = errors.Join(err, r.close())
		}
	}
	// Unlock comes first: Windows does not remove a file that is open.
	err = errors.Join(err, q.lock.Unlock(), q.s.fs.RemoveAll(q.dir))
	if err != nil {
		return fmt.Errorf("discard a quarantine: %w", err)
	}
	return nil
}
