package memory

import (
	"fmt"
	"slices"
	"time"

	"cairn/agent/projection"
	"cairn/internal/device"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// A plan is what one append does with its requests. Of those that have to see
// each other's effect only the first is in it; the rest come next time, when
// the facts know of it.
type plan struct {
	head eventlog.Head // that the events follow
	view projection.View
	last event.ID // newest live id
	// Newest ids of the moments of historic events.
	moments map[time.Time]event.ID

	adds       []*request // to append, in order
	duplicates []*request
	failed     map[*request]error
	rest       []*request

	keys map[string]bool // of adds: idempotency keys, groups and ids
}

// newPlan decides by the facts, which must be level with head.
func newPlan(set *projection.Set, head eventlog.Head, view projection.View, rs []*request) *plan {
	p := &plan{head: head, view: view, last: set.Newest(view.Now), failed: map[*request]error{}, keys: map[string]bool{}, moments: map[time.Time]event.ID{}}
	for i, r := range rs {
		if p.clashes(r) {
			p.rest = rs[i:]
			break
		}
		p.decide(set, r)
	}
	return p
}

// clashes says whether what is known of r may change with the events that are
// in the plan already. For a whole event only its id matters.
func (p *plan) clashes(r *request) bool {
	if r.whole {
		return p.keys[r.idKey()]
	}
	if p.keys[actsKey] {
		return true
	}
	return slices.ContainsFunc(r.keys(), func(k string) bool { return p.keys[k] })
}

// actsKey marks a plan with an event that changes what others count for.
const actsKey = "acts"

func (r *request) idKey() string { return "id " + string(r.event.ID) }

func (r *request) keys() []string {
	var out []string
	if r.event.Key != "" {
		out = append(out, "key "+r.event.Key)
	}
	if g := r.fact.Group(); g != "" {
		out = append(out, "group "+g)
	}
	if r.whole {
		out = append(out, r.idKey())
	}
	return out
}

func (p *plan) decide(set *projection.Set, r *request) {
	id, err := r.earlier(set, p.view)
	switch {
	case err != nil:
		p.failed[r] = err
	case id != "":
		r.receipt.ID, r.receipt.Duplicate = id, true
		p.duplicates = append(p.duplicates, r)
	default:
		p.add(r)
		if !r.whole && !r.when.IsZero() {
			p.moments[momentOf(r)] = set.NewestAt(r.when)
		}
	}
}

// momentOf is as exact as an id.
func momentOf(r *request) time.Time { return r.when.UTC().Truncate(time.Millisecond) }

// earlier is the event that makes r superfluous; empty if there is none.
func (r *request) earlier(set *projection.Set, view projection.View) (event.ID, error) {
	if r.whole {
		if set.Has(r.event.ID) {
			return r.event.ID, nil
		}
		return "", nil
	}
	if !r.when.IsZero() {
		// An import does not bring back what was put away or redacted since.
		if id, said := set.Said(r.event.Key, r.fact.Content()); said {
			return id, nil
		}
	}
	if id, content, held := set.LookupKey(r.event.Key, view); held {
		if content != r.fact.Content() {
			return "", keyConflict(id)
		}
		return id, nil
	}
	if id, content, ok := set.Current(r.fact.Group(), view); ok && content == r.fact.Content() && set.Visible(id, view) {
		return id, nil
	}
	id, _ := set.Done(r.fact, view)
	return id, nil
}

func keyConflict(holder event.ID) error {
	return &problem.Problem{
		Code: problem.KeyConflict, Field: "key",
		Message: fmt.Sprintf("the idempotency key belongs to event %s, which says something else; nothing was saved", holder),
		Hint:    "use another key, or supersede that event",
	}
}

func (p *plan) add(r *request) {
	p.adds = append(p.adds, r)
	for _, k := range r.keys() {
		p.keys[k] = true
	}
	if r.fact.Acts() {
		p.keys[actsKey] = true
	}
}

// sign gives the events of the plan their ids and signatures.
func (p *plan) sign(key device.Key) ([]event.Event, error) {
	out := make([]event.Event, len(p.adds))
	for i, r := range p.adds {
		e := r.event
		if !r.whole {
			if r.when.IsZero() {
				p.last = event.NextID(p.view.Now, p.last)
				e.ID = p.last
			} else {
				e.ID = p.historic(momentOf(r))
			}
			e.Ref = p.head.Ref
			var err error
			if e, err = key.Sign(e); err != nil {
				return nil, err
			}
		}
		out[i] = e
	}
	return out, nil
}

// historic is an id of the moment t, greater than any other of it, so that items
// of one date keep their order, however many appends they take.
func (p *plan) historic(t time.Time) event.ID {
	id := event.NewID(t)
	if last := p.moments[t]; last != "" {
		id = event.NextID(t, last)
	}
	p.moments[t] = id
	return id
}

// receipts completes the receipts of what was appended.
func (p *plan) receipts(done []eventlog.Appended, state string) {
	for i, a := range done {
		r := p.adds[i]
		r.receipt.ID, r.receipt.Commit, r.receipt.State = a.Event.ID, a.Commit.String(), state
	}
	for _, r := range p.duplicates {
		r.receipt.State = state
	}
}
