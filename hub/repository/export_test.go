package repository

import (
	"context"
	"errors"
	"maps"
	"slices"

	"cairn/sync/gitstore"
)

// Tell lets tests make changes without pushes.
func (f *Feed) Tell(r *Repository) { f.tell(r, ForMain, [20]byte{}) }

// AsTheyAre says whether a clone would get the packs as they are.
func (r *Repository) AsTheyAre(ctx context.Context) (bool, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return false, err
	}
	s, err := r.whole(ctx, slices.Collect(maps.Values(refs)))
	if errors.Is(err, gitstore.ErrScattered) || err == nil && s == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.Close()
}

// KeepCount does what is otherwise done now and then.
func (r *Repository) KeepCount(ctx context.Context) error { return r.keepCount(ctx) }

// Remembered is about how many bytes of objects are remembered, of all repositories.
func (s *Set) Remembered() int { return s.cache.Bytes() }

// MostRemembered bounds it.
const MostRemembered = cacheBytes

// Waiting is how many checked pushes wait to land.
func (r *Repository) Waiting() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return len(r.queue.list)
}

// Rest waits until nobody tidies up.
func (r *Repository) Rest() { r.tidy.work.Wait() }

// ErrPurged ends a fetch.
var ErrPurged = errPurged

// AtRest is what happens when nobody has pushed for a while. It waits until
// that is done.
func (r *Repository) AtRest() {
	r.Rest()
	r.tidy.atRest()
	r.Rest()
}
