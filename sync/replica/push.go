package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/history"
	"cairn/sync/intake"
)

// Delivered is what a push did.
type Delivered struct {
	Events  int // that the remote has now and had not before, as far as we know
	Refused []Parked
	Held    Held
	// Behind says that the remote has events of others that a pull would bring.
	Behind bool
	// Idle says that there was nothing to send, so the remote was not asked.
	Idle bool
}

// maxRounds bounds how often a push starts over without getting anywhere,
// because the remote moved.
const maxRounds = 8

// Push sends the log's events that the remote lacks. Errors: those of Remote
// and of Pull, which a lost race makes necessary.
func (r *Replica) Push(ctx context.Context) (Delivered, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.begin(); err != nil {
		return Delivered{}, fmt.Errorf("push space %s to %s: %w", r.opt.Log.Space().Name, r.opt.Name, err)
	}
	var all Delivered
	for n := 0; n < maxRounds; n++ {
		d, again, err := r.round(ctx)
		all.Events += d.Events
		all.Refused = append(all.Refused, d.Refused...)
		all.Held, all.Behind, all.Idle = d.Held, d.Behind, n == 0 && d.Idle
		if err != nil {
			return all, fmt.Errorf("push space %s to %s: %w", r.opt.Log.Space().Name, r.opt.Name, err)
		}
		if len(d.Refused) > 0 {
			n = 0
		}
		if !again {
			r.times.settle(all.Held)
			return all, nil
		}
	}
	return all, fmt.Errorf("push space %s to %s: %w", r.opt.Log.Space().Name, r.opt.Name, ErrRaced)
}

// round is one offer. again says that there is more to do.
func (r *Replica) round(ctx context.Context) (d Delivered, again bool, err error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return d, false, err
	}
	met, err := r.tracked()
	if err != nil {
		return d, false, err
	}
	known := met
	if r.empty { // whatever it had
		known = plumbing.ZeroHash
	}
	if known == head.Commit {
		return Delivered{Idle: true}, false, nil
	}
	waiting, err := r.waiting(ctx, known, head)
	if err != nil {
		return d, false, err
	}
	d.Held = r.times.heldNow(ctx, waiting)
	d.Events = len(waiting) - len(d.Held.Events)
	if d.Events == 0 && !known.IsZero() {
		d.Idle = true
		return d, false, nil
	}
	tip, err := r.tip(ctx, met, head, d.Held)
	if err != nil || tip.IsZero() {
		return Delivered{Held: d.Held}, err == nil, err
	}
	offer := r.offer(tip, known, !met.IsZero())
	if offer.Epoch, err = r.opt.Log.EpochCommit(); err != nil {
		return Delivered{Held: d.Held}, false, err
	}
	return r.send(ctx, offer, head, d)
}

// tip is the commit to offer: all of the log but what is held. It is zero if
// something has changed meanwhile. met is what the remote had once.
func (r *Replica) tip(ctx context.Context, met plumbing.Hash, head eventlog.Head, held Held) (plumbing.Hash, error) {
	if len(held.Events) == 0 {
		return head.Commit, nil
	}
	if met.IsZero() {
		_, err := r.pull(ctx)
		return plumbing.ZeroHash, err
	}
	return r.before(ctx, met, held)
}

// send makes an offer, which brings d if all goes well.
func (r *Replica) send(ctx context.Context, o Offer, head eventlog.Head, d Delivered) (_ Delivered, again bool, err error) {
	pushed, err := r.opt.Remote.Push(ctx, o)
	if declined, ok := errors.AsType[*DeclinedError](err); ok {
		parked, err := r.part(ctx, o.Known, head, declined)
		return Delivered{Refused: parked, Held: d.Held}, err == nil, err
	}
	if errors.Is(err, ErrRaced) {
		_, err := r.pull(ctx)
		return Delivered{Held: d.Held}, true, err
	}
	if err != nil {
		return Delivered{Held: d.Held}, false, err
	}
	d.Behind, r.empty = pushed.Joined, false
	if pushed.Joined {
		return d, false, nil
	}
	return d, false, r.track(o.Tip)
}

// Waiting is what the remote is not known to have.
type Waiting struct {
	Events int
	Held   Held // of them
}

// Waiting is what the remote is not known to have.
func (r *Replica) Waiting(ctx context.Context) (Waiting, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return Waiting{}, err
	}
	known, err := r.tracked()
	if err != nil {
		return Waiting{}, err
	}
	ids, err := r.waiting(ctx, known, head)
	return Waiting{Events: len(ids), Held: r.times.held(ids)}, err
}

func (r *Replica) waiting(ctx context.Context, known plumbing.Hash, head eventlog.Head) ([]event.ID, error) {
	from := plumbing.ZeroHash
	if !known.IsZero() {
		c, err := history.ReadCommit(r.opt.Log.Store(), known)
		if err != nil {
			return nil, err
		}
		from = c.Tree
	}
	return r.opt.Log.AddedIDs(ctx, from, head.Tree)
}

func (r *Replica) offer(tip, known plumbing.Hash, met bool) Offer {
	o := Offer{
		Tip:   tip,
		Met:   met,
		Known: known,
		Told:  r.opt.Told,
		Follows: func(h plumbing.Hash) (bool, error) {
			if err := r.graph.Add(tip); err != nil {
				return false, err
			}
			return r.graph.Ancestor(h, tip)
		},
		Next: func(ctx context.Context, to Taker) (Portion, error) { return r.portion(ctx, tip, to) },
	}
	if r.lease != nil {
		o.Claim = r.claim
	}
	return o
}

// part takes the events that the remote named out of the log, after the
// caller has put them in a safe place, so that the others can go. Those that
// only came too early stay in it.
func (r *Replica) part(ctx context.Context, known plumbing.Hash, head eventlog.Head, declined *DeclinedError) ([]Parked, error) {
	if slices.ContainsFunc(declined.Refusals, func(f hubwire.Refusal) bool { return f.Rule == intake.RulePurged }) {
		_, err := r.pull(ctx) // it is not kept: it goes with the purge
		return nil, err
	}
	reasons, early, err := sortOut(declined)
	if err != nil {
		return nil, err
	}
	r.times.decline(ctx, early)
	if len(reasons) == 0 {
		return nil, nil
	}
	if known.IsZero() {
		return nil, &RefusedError{Message: declined.Message}
	}
	base, err := history.ReadCommit(r.opt.Log.Store(), known)
	if err != nil {
		return nil, err
	}
	var parked []Parked
	err = r.opt.Log.Added(ctx, base.Tree, head.Tree, func(s eventlog.Stored) error {
		if f, ok := reasons[s.ID]; ok {
			parked = append(parked, Parked{Stored: s, Rule: f.Rule, Field: f.Field})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(parked) == 0 {
		return nil, &RefusedError{Message: declined.Message}
	}
	if err := r.opt.Park(ctx, parked); err != nil {
		return nil, fmt.Errorf("keep refused events: %w", err)
	}
	_, _, err = r.replay(ctx, known, func(s eventlog.Stored) place {
		if _, refused := reasons[s.ID]; refused {
			return leftOut
		}
		return inOrder
	})
	if err != nil && !errors.Is(err, eventlog.ErrBusy) {
		return nil, err
	}
	return parked, nil
}

// sortOut tells the events that are refused for what they are, each with its
// first reason, from those that only came too early.
func sortOut(declined *DeclinedError) (reasons map[event.ID]hubwire.Refusal, early []event.ID, err error) {
	reasons = map[event.ID]hubwire.Refusal{}
	for _, f := range declined.Refusals {
		if f.Event == "" {
			return nil, nil, &RefusedError{Message: declined.Message}
		}
		if _, ok := reasons[f.Event]; !ok && f.Rule != hubwire.RuleClock {
			reasons[f.Event] = f
		}
	}
	for _, f := range declined.Refusals {
		if _, ok := reasons[f.Event]; !ok {
			early = append(early, f.Event)
		}
	}
	return reasons, early, nil
}
