package memory

import (
	"context"

	"cairn/agent/api"
	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// submit puts requests of one space into its queue, in order, and makes sure
// that somebody works it off.
func (s *Service) submit(sp *space, rs ...*request) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		for _, r := range rs {
			r.finish(Problem(catchup.ErrClosed))
		}
		return
	}
	if sp.queue.put(rs) {
		s.work.Go(func() { s.drain(sp) })
	}
}

// drain appends until nothing waits. It does not end with the Service: what
// was accepted is saved before Close returns.
func (s *Service) drain(sp *space) {
	ctx := context.Background()
	for {
		batch := sp.queue.take()
		if len(batch) == 0 {
			return
		}
		s.commit(ctx, sp, batch)
	}
}

// commit appends a batch and answers its requests, except those that have to
// wait for the effect of others, which go back into the queue.
func (s *Service) commit(ctx context.Context, sp *space, batch []*request) {
	p, done, err := s.append(ctx, sp, batch)
	if err != nil {
		for _, r := range batch {
			r.finish(Problem(err))
		}
		return
	}
	// From here on the events are saved, and nothing may fail a request.
	state := s.follow(ctx, sp, p, done)
	p.receipts(done, state)
	for _, r := range append(p.adds, p.duplicates...) {
		r.finish(nil)
	}
	for r, err := range p.failed {
		r.finish(err)
	}
	sp.queue.putBack(p.rest)
}

func (s *Service) append(ctx context.Context, sp *space, batch []*request) (*plan, []eventlog.Appended, error) {
	// What there is to catch up with is done before the log is locked.
	if err := s.levelFacts(ctx, sp); err != nil {
		return nil, nil, err
	}
	var p *plan
	done, err := sp.log.Append(ctx, func(head eventlog.Head) ([]event.Event, error) {
		if err := sp.kept.LevelFacts(ctx, head); err != nil {
			return nil, err
		}
		sp.kept.Facts(func(set *projection.Set) { p = newPlan(set, head, s.view(sp), batch) })
		p.last = s.ids.after(p.last, p.view.Now)
		return p.sign(*s.key.Load())
	})
	if len(done) > 0 {
		s.ids.note(p.last)
	}
	return p, done, err
}

// mostPending is how many events the index may be behind before saving waits
// for it: whoever asks has to wait for them.
const mostPending = 1000

// follow lets facts and index know of an append. Neither can fail it any more.
// The result is the state for the receipts.
func (s *Service) follow(ctx context.Context, sp *space, p *plan, done []eventlog.Appended) string {
	if len(done) > 0 {
		if err := sp.kept.Appended(p.head, done); err != nil {
			s.troubled(err)
		}
	}
	state := sp.kept.Following()
	if state == catchup.Unknown || sp.kept.Pending() > mostPending {
		if err := sp.kept.Level(ctx); err != nil {
			s.troubled(err)
			return api.Committed
		}
		return api.Indexed
	}
	sp.kept.LevelSoon()
	if state == catchup.Lags {
		return api.Committed
	}
	return api.Indexed
}
