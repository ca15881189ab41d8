package repository

import (
	"context"
	"errors"

	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// Append adds events of the hub's own, durably: those that are not in the
// history yet and were not purged from it. All of them are there afterwards, or
// none is new. They must be as eventlog.Log.Append asks for. Errors: a
// *problem.Problem about the repository, and the context's.
func (r *Repository) Append(ctx context.Context, events []event.Event) error {
	gone, err := r.log.Purged()
	if err != nil {
		return asProblem(err)
	}
	done, err := r.log.Append(ctx, func(head eventlog.Head) ([]event.Event, error) {
		var fresh []event.Event
		for _, e := range events {
			_, err := r.log.Event(head.Tree, e.ID)
			switch {
			case errors.Is(err, eventlog.ErrNotFound) && !gone.Has(e.ID):
				fresh = append(fresh, e)
			case err != nil && !errors.Is(err, eventlog.ErrNotFound):
				return nil, err
			}
		}
		return fresh, nil
	})
	if err == nil && len(done) > 0 {
		err = r.log.Settle(ctx)
	}
	if err != nil || len(done) == 0 {
		return asProblem(err)
	}
	r.set.feed.tell(r, event.MainRef, done[len(done)-1].Commit)
	r.tidy.after()
	return nil
}
