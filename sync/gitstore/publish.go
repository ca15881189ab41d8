package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// Publish makes the objects in quarantine part of the repository, as one pack, durably and visibly to every process, and
// ends the quarantine. With ids it publishes exactly those; an id that is not in quarantine is plumbing.ErrObjectNotFound.
// Objects that the store has already, and bases that a received pack counted on, are not stored again.
//
// After an error nothing has been published, except when only the last step failed, syncing the directory.
func (q *Quarantine) Publish(ids ...plumbing.Hash) error {
	if err := q.usable(); err != nil {
		return err
	}
	if err := q.publish(ids); err != nil {
		return fmt.Errorf("publish received objects: %w", err)
	}
	return q.Discard()
}

// PublishLacking is Publish for those of ids that the store lacks or cannot read: an object of which it has only damaged
// copies is stored again. It reads every object that both have.
func (q *Quarantine) PublishLacking(ids []plumbing.Hash) error {
	if err := q.usable(); err != nil {
		return err
	}
	if err := q.publishList(ids, q.s.readable); err != nil {
		return fmt.Errorf("publish received objects: %w", err)
	}
	return q.Discard()
}

// readable reports whether there is a good copy of an object.
func (s *Store) readable(h plumbing.Hash) (bool, error) {
	_, err := s.Object(h)
	if err != nil && isDamage(err) {
		return false, nil
	}
	return err == nil, err
}

func (q *Quarantine) publish(ids []plumbing.Hash) error {
	if len(ids) > 0 {
		return q.publishSome(ids)
	}
	fresh, err := q.isFresh()
	if err != nil {
		return err
	}
	if fresh {
		return q.publishAsReceived()
	}
	return q.publishSome(q.all())
}

// isFresh reports whether the received pack is all there is and nothing of it is stored, so that it can be taken as it
// is. It makes no list: of a large pack that would be the most that is ever in memory.
func (q *Quarantine) isFresh() (bool, error) {
	if q.received == nil || len(q.order) > 0 {
		return false, nil
	}
	t := q.received.table
	if len(t.list) == 0 || len(t.thin) > 0 || len(t.order) != len(t.list) {
		return false, nil
	}
	stored, err := q.s.storedSet()
	if err != nil {
		return false, err
	}
	for _, n := range t.order {
		if found, err := stored(t.list[n].hash); err != nil || found {
			return false, err
		}
	}
	return true, nil
}

func (q *Quarantine) publishSome(ids []plumbing.Hash) error {
	stored, err := q.s.storedSet()
	if err != nil {
		return err
	}
	return q.publishList(ids, stored)
}

func (q *Quarantine) publishList(ids []plumbing.Hash, stored func(plumbing.Hash) (bool, error)) error {
	list, err := q.choose(ids, stored)
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = q.s.writePack(len(list), func(w *packfmt.Writer) error {
		c := copier{w: w, load: q.Object}
		return c.copyAll(list)
	})
	return err
}

// all returns the ids of everything in quarantine.
func (q *Quarantine) all() []plumbing.Hash {
	ids := append([]plumbing.Hash(nil), q.order...)
	if q.received != nil {
		for _, n := range q.received.table.order {
			ids = append(ids, q.received.table.list[n].hash)
		}
	}
	return ids
}

// choose returns those of ids that are not stored, sorted for copying.
func (q *Quarantine) choose(ids []plumbing.Hash, stored func(plumbing.Hash) (bool, error)) ([]wanted, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	ids = slices.Compact(ids)
	list := make([]wanted, 0, len(ids))
	for _, h := range ids {
		x, ok := q.locate(h)
		if !ok {
			return nil, fmt.Errorf("object %s: %w", h, plumbing.ErrObjectNotFound)
		}
		found, err := stored(h)
		if err != nil {
			return nil, err
		}
		if !found {
			list = append(list, x)
		}
	}
	sortWanted(list)
	return list, nil
}

// storedSet returns a Has for many ids at once: it looks for packs, and for folders of loose objects, only now.
func (s *Store) storedSet() (func(plumbing.Hash) (bool, error), error) {
	if _, err := s.packs.refresh(); err != nil {
		return nil, err
	}
	entries, err := s.fs.ReadDir(s.path("objects"))
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for _, e := range entries {
		folders[e.Name()] = true
	}
	return func(h plumbing.Hash) (bool, error) {
		q := search{h: h, use: func(c storedCopy) error { return s.confirm(c, h) }}
		q.packedOnly = !folders[h.String()[:2]]
		err := q.run(s)
		return q.found, err
	}, nil
}

func (q *Quarantine) locate(h plumbing.Hash) (wanted, bool) {
	if q.received != nil {
		if n, ok := q.received.table.find(h); ok {
			a := q.received.table.list[n]
			return wanted{h, storedCopy{q.received.pack, a.offset}, a.crc}, true
		}
	}
	_, ok := q.added[h]
	return wanted{hash: h}, ok
}

func (q *Quarantine) publishAsReceived() error {
	files := q.received.files
	if err := errors.Join(q.received.pack.drop(), syncBoth(files.pack, files.index)); err != nil {
		return err
	}
	files.common = true
	_, err := files.publish()
	return err
}
