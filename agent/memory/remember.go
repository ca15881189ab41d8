package memory

import (
	"context"
	"errors"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/sync/purge"
)

// Remember saves one event; see api.Agent.
func (s *Service) Remember(ctx context.Context, d api.Draft) (api.Receipt, error) {
	sp, r, err := s.prepare(ctx, d, s.historicTimes([]api.Draft{d})[0])
	if err != nil {
		return api.Receipt{}, Problem(err)
	}
	s.submit(sp, r)
	receipt, err := r.wait()
	if err != nil {
		return api.Receipt{}, Problem(err)
	}
	if receipt.Duplicate {
		receipt.Commit = sp.commitOf(ctx, receipt.ID)
	}
	return receipt, nil
}

// Import saves many events; see api.Agent. The receipt of one that was there
// already does not say its commit.
func (s *Service) Import(ctx context.Context, drafts []api.Draft) ([]api.ImportResult, error) {
	out := make([]api.ImportResult, len(drafts))
	requests := make([]*request, len(drafts))
	times := s.historicTimes(drafts)
	before := map[projection.Content]int{}
	for i, d := range drafts {
		if err := ctx.Err(); err != nil {
			return nil, Problem(err)
		}
		sp, r, err := s.prepare(ctx, d, times[i])
		if err != nil {
			out[i].Problem = problem.Of(Problem(err))
			continue
		}
		if d.Historic && r.event.Key == "" {
			content := r.fact.Content()
			r.event.Key = historicKey(content, d.Observed, before[content])
			before[content]++
		}
		requests[i] = r
		s.submit(sp, r)
	}
	for i, r := range requests {
		if r == nil {
			continue
		}
		receipt, err := r.wait()
		out[i].Receipt, out[i].Problem = receipt, problem.Of(Problem(err))
	}
	return out, nil
}

// prepare makes a draft a request, complete and judged.
func (s *Service) prepare(ctx context.Context, d api.Draft, at time.Time) (*space, *request, error) {
	if len(d.Stored) > 0 {
		return s.prepareStored(ctx, d.Stored)
	}
	sp, err := s.spaceFor(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	e, err := s.complete(d, sp, at)
	if err == nil {
		err = s.opt.Decide(e)
	}
	if err != nil {
		return nil, nil, s.refuse(e, sp.name, err)
	}
	r := newRequest(ctx, e)
	if d.Historic {
		r.when = at
	}
	return sp, r, nil
}

// spaceFor is the space a draft names, or else the one of the event it acts
// on, or else the personal one.
func (s *Service) spaceFor(ctx context.Context, d api.Draft) (*space, error) {
	name := d.Space
	if target := actsOn(d.Payload, d.Parent); target != "" {
		_, in, err := s.Resolve(ctx, string(target), name)
		_, full := event.ParseID(string(target))
		switch {
		case err == nil:
			name = in
		case full != nil || name == "" && problem.Of(err).Code != problem.NotFound:
			return nil, err
		}
	}
	if name == "" {
		name = scope.Personal
	}
	return s.space(name)
}

// prepareStored makes a request of a whole event. It must be as its writer
// signed it, and pass the rules of today.
func (s *Service) prepareStored(ctx context.Context, b []byte) (*space, *request, error) {
	e, err := event.Decode(b)
	if err == nil {
		err = e.Verify()
	}
	if err == nil && e.Ref != event.MainRef {
		err = &event.InvalidError{Field: "ref", Reason: "is not " + event.MainRef}
	}
	if err != nil {
		return nil, nil, err
	}
	sp, err := s.space(e.Space)
	if err != nil {
		return nil, nil, err
	}
	gone, err := sp.log.Purged()
	if err == nil && gone.Has(e.ID) {
		err = &purge.PurgedError{Event: e.ID}
	}
	if err != nil {
		return nil, nil, err
	}
	if ahead := e.ID.Time().Sub(s.opt.Now()); ahead > event.MaxAhead {
		return nil, nil, fromTheFuture()
	}
	if err := s.opt.Decide(e); err != nil {
		return nil, nil, s.refuse(e, sp.name, err)
	}
	r := newRequest(ctx, e)
	r.whole, r.size = true, len(b)
	return sp, r, nil
}

func fromTheFuture() error {
	return &problem.Problem{
		Code: problem.Policy, Rule: "clock", Field: "id",
		Message: "the event's id lies more than ten minutes ahead of this machine's clock; it was not saved",
		Hint:    "set the clock right and import it again",
	}
}

// commitOf is the commit that added an event, empty if it cannot be found out.
func (sp *space) commitOf(ctx context.Context, id event.ID) string {
	head, err := sp.log.Head()
	if err != nil {
		return ""
	}
	commits, err := sp.log.CommitsOf(ctx, head.Commit, []event.ID{id})
	if c := commits[id]; err == nil && c != plumbing.ZeroHash {
		return c.String()
	}
	return ""
}

// troubled reports what nobody waits to hear. That the index follows later is
// no trouble.
func (s *Service) troubled(err error) {
	if !errors.Is(err, catchup.ErrBehind) && !errors.Is(err, context.Canceled) {
		s.opt.Trouble(err)
	}
}
