package gitstore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxRounds is how often a search starts over because packs came and went meanwhile.
const maxRounds = 10

// Object returns the object with id h, from a pack or a loose file. Its contents have been compared with the id. If there
// is no such object the error is plumbing.ErrObjectNotFound; if it is there and damaged, a *CorruptError.
func (s *Store) Object(h plumbing.Hash) (Object, error) {
	var o Object
	err := s.search(h, func(c storedCopy) (err error) {
		o, err = s.load(s.cache, c, h)
		return err
	})
	if err != nil {
		return Object{}, fmt.Errorf("read object %s: %w", h, err)
	}
	return o, nil
}

// Has reports whether the object with id h is stored. It does not look at the contents.
func (s *Store) Has(h plumbing.Hash) (bool, error) {
	err := s.search(h, func(c storedCopy) error { return s.confirm(c, h) })
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for object %s: %w", h, err)
	}
	return true, nil
}

// Size returns the type of the object with id h and the length of its contents in bytes, without reading all of them.
// Errors are those of Object.
func (s *Store) Size(h plumbing.Hash) (plumbing.ObjectType, int64, error) {
	var t plumbing.ObjectType
	var n int64
	err := s.search(h, func(c storedCopy) (err error) {
		if c.pack == nil {
			t, n, err = s.looseSize(h)
		} else {
			t, n, err = s.packedSize(c)
		}
		return err
	})
	if err != nil {
		return plumbing.InvalidObject, 0, fmt.Errorf("size of object %s: %w", h, err)
	}
	return t, n, nil
}

// A storedCopy says where an object is: in a pack, or in its loose file if pack is nil.
type storedCopy struct {
	pack   *pack
	offset int64
}

// search calls use with the stored copies of h, one after the other, until use returns nil. It is made for a repository in
// which packs are rewritten at the same time: what was moved from a pack that is gone, or from a loose file, into a new
// pack is found in the next round. A copy that cannot be read is passed over, and reported only if no other will do.
func (s *Store) search(h plumbing.Hash, use func(storedCopy) error) error {
	if err := s.alive(); err != nil {
		return err
	}
	q := search{h: h, use: use}
	for range maxRounds {
		seen := s.packs.current.Load()
		if err := q.run(s); q.found || err != nil {
			return err
		}
		if _, err := s.packs.refresh(); err != nil {
			return err
		}
		// Another goroutine may have refreshed between our look and our refresh.
		if s.packs.current.Load() == seen {
			break
		}
	}
	if q.failure != nil {
		return q.failure
	}
	return plumbing.ErrObjectNotFound
}

// hasKnown is Has without a second look at the disk: it may miss what another process has stored a moment ago.
func (s *Store) hasKnown(h plumbing.Hash) (bool, error) {
	q := search{h: h, use: func(c storedCopy) error { return s.confirm(c, h) }}
	err := q.run(s)
	return q.found, err
}

// A search goes through all places where an object may be.
type search struct {
	h   plumbing.Hash
	use func(storedCopy) error
	// packedOnly saves the look for a loose file that is known not to be there.
	packedOnly bool

	found   bool
	failure error // of the last copy that could not be read
}

// run looks into the packs as last seen and then for the loose file.
func (q *search) run(s *Store) error {
	err := s.packs.each(func(p *pack) bool {
		offset, ok, err := p.find(q.h)
		if ok {
			err = q.use(storedCopy{p, offset})
			q.found = err == nil
		}
		q.note(err, p.packPath())
		return q.found
	})
	if err != nil || q.found || q.packedOnly {
		return err
	}
	err = q.use(storedCopy{})
	q.found = err == nil
	q.note(err, s.loosePath(q.h))
	return nil
}

// note keeps the reason why a copy was of no use. A file that is gone is none: whoever removed it has put the object
// elsewhere before.
func (q *search) note(err error, path string) {
	if err == nil || isGone(err) {
		return
	}
	_, io := errors.AsType[*fs.PathError](err)
	_, corrupt := errors.AsType[*CorruptError](err)
	if !io && !corrupt && !errors.Is(err, ErrClosed) {
		err = &CorruptError{Hash: q.h, Path: path, Err: err}
	}
	q.failure = err
}

// confirm makes sure that a copy still exists.
func (s *Store) confirm(c storedCopy, h plumbing.Hash) error {
	path := s.loosePath(h)
	if c.pack != nil {
		path = c.pack.packPath()
	}
	_, err := s.fs.Stat(path)
	return err
}

// load reads one copy of h, by way of the cache, and compares it with h.
func (s *Store) load(cache *Cache, c storedCopy, h plumbing.Hash) (Object, error) {
	if c.pack == nil {
		return s.loadLoose(h)
	}
	o, err := s.loadPacked(cache, c)
	if err != nil || o.Hash == h {
		return o, err
	}
	verified := NewObject(o.Type, o.Data)
	if verified.Hash != h {
		return Object{}, fmt.Errorf("its contents have the id %s", verified.Hash)
	}
	cache.put(c, verified)
	return verified, nil
}
