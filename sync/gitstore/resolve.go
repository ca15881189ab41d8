package gitstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/pjbgf/sha1cd"

	"cairn/sync/gitstore/internal/packfmt"
)

var errCollision = errors.New("an object is part of a SHA-1 collision attack")

// hashReceived returns the id of an object that somebody sent.
func hashReceived(t plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	d := sha1cd.New().(sha1cd.CollisionResistantHash)
	d.Write(appendObjectHeader(make([]byte, 0, 32), t, int64(len(data))))
	d.Write(data)
	var h plumbing.Hash
	sum, attack := d.CollisionResistantSum(h[:0])
	if attack {
		return plumbing.Hash{}, errCollision
	}
	return plumbing.Hash(sum), nil
}

var errUnresolved = fmt.Errorf("%w pack: the base of a delta is neither in it nor in the repository", packfmt.ErrMalformed)

// resolve finds the id of every delta in the pack.
func (r *received) resolve(ctx context.Context, s *Store) error {
	t := r.table
	t.link()
	w := &walker{s: s, pack: r.pack, table: t, lim: r.lim, visit: t.identify, onlyUnknown: true}
	for i := range t.list {
		if err := resolveFrom(ctx, w, int32(i)); err != nil {
			return err
		}
	}
	if err := resolveThin(ctx, w); err != nil {
		return err
	}
	for i := range t.list {
		if t.list[i].kind == plumbing.InvalidObject {
			return &BadPackError{Offset: t.list[i].offset, Err: errUnresolved}
		}
	}
	t.sortByHash()
	return t.checkThin()
}

// resolveFrom resolves what grows from entry i, if that is a whole object.
func resolveFrom(ctx context.Context, w *walker, i int32) error {
	if w.table.list[i].delta {
		return nil
	}
	kids := w.table.children(i)
	if len(kids) == 0 {
		return nil
	}
	o, err := w.whole(i)
	if err != nil {
		return err
	}
	return w.descend(ctx, frame{entry: i, obj: o, kids: kids})
}

// resolveThin resolves deltas against objects of the store. A base that is neither there nor known yet may still come up
// on the way from another one.
func resolveThin(ctx context.Context, w *walker) error {
	if _, err := w.s.packs.refresh(); err != nil {
		return err
	}
	t := w.table
	for _, r := range t.refs {
		if t.list[r.entry].kind != plumbing.InvalidObject {
			continue
		}
		stored, err := w.s.hasKnown(r.base)
		if err != nil {
			return err
		}
		if !stored {
			continue
		}
		if err := w.fromStore(ctx, r.base); err != nil {
			return err
		}
		t.thin = append(t.thin, r.base)
	}
	return nil
}

// checkThin refuses a pack in which an object grows from itself by way of the store: read back, it would have no ground
// to stand on.
func (t *arrivals) checkThin() error {
	for _, base := range t.thin {
		if i, ok := t.find(base); ok {
			return &BadPackError{
				Offset: t.list[i].offset,
				Err:    fmt.Errorf("%w pack: a delta grows from itself", packfmt.ErrMalformed),
			}
		}
	}
	return nil
}

// Each calls fn with every object that Receive took in, each once, in no particular order; objects that were added are not
// among them. It stops at the first error and returns it.
func (q *Quarantine) Each(ctx context.Context, fn func(Object) error) error {
	if err := q.usable(); err != nil {
		return err
	}
	if q.received == nil {
		return nil
	}
	return q.received.each(ctx, q.s, fn)
}

// each calls fn with every object, each once.
func (r *received) each(ctx context.Context, s *Store, fn func(Object) error) error {
	t := r.table
	// Receiving took the same steps, within its limits.
	w := &walker{s: s, pack: r.pack, table: t, lim: Limits{Inflated: math.MaxInt64, Depth: math.MaxInt}}
	w.visit = func(entry int32, o Object) error {
		o.Hash = t.list[entry].hash
		if first, _ := t.find(o.Hash); first != entry {
			return nil
		}
		return fn(o)
	}
	return w.all(ctx)
}
