package replica

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/history"
)

// Delivered is what a push did.
type Delivered struct {
	Events  int // that the remote has now and had not before, as far as we know
	Refused []Parked
	// Behind says that the remote has events of others that a pull would bring.
	Behind bool
}

// maxRounds bounds how often a push starts over because the remote moved or
// named more events that it does not take.
const maxRounds = 8

// Push sends the log's events that the remote lacks. Errors: those of Remote
// and of Pull, which a lost race makes necessary.
func (r *Replica) Push(ctx context.Context) (Delivered, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all Delivered
	for range maxRounds {
		d, again, err := r.round(ctx)
		all.Events += d.Events
		all.Refused = append(all.Refused, d.Refused...)
		all.Behind = d.Behind
		if err != nil {
			return all, fmt.Errorf("push space %s to %s: %w", r.opt.Log.Space().Name, r.opt.Name, err)
		}
		if !again {
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
		return d, false, nil
	}
	d.Events, err = r.waiting(ctx, known, head)
	if err != nil || d.Events == 0 && !known.IsZero() {
		return d, false, err
	}
	pushed, err := r.opt.Remote.Push(ctx, r.offer(head.Commit, known, !met.IsZero()))
	if declined, ok := errors.AsType[*DeclinedError](err); ok {
		d.Events = 0
		d.Refused, err = r.part(ctx, known, head, declined)
		return d, err == nil, err
	}
	if errors.Is(err, ErrRaced) {
		_, err := r.pull(ctx)
		return Delivered{}, true, err
	}
	if err != nil {
		return Delivered{}, false, err
	}
	d.Behind, r.empty = pushed.Joined, false
	if pushed.Joined {
		return d, false, nil
	}
	return d, false, r.track(head.Commit)
}

// Waiting is how many events of the log the remote is not known to have.
func (r *Replica) Waiting(ctx context.Context) (int, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return 0, err
	}
	known, err := r.tracked()
	if err != nil {
		return 0, err
	}
	return r.waiting(ctx, known, head)
}

func (r *Replica) waiting(ctx context.Context, known plumbing.Hash, head eventlog.Head) (int, error) {
	from := plumbing.ZeroHash
	if !known.IsZero() {
		c, err := history.ReadCommit(r.opt.Log.Store(), known)
		if err != nil {
			return 0, err
		}
		from = c.Tree
	}
	return r.count(ctx, from, head.Tree)
}

func (r *Replica) offer(tip, known plumbing.Hash, met bool) Offer {
	store := r.opt.Log.Store()
	return Offer{
		Tip:   tip,
		Met:   met,
		Known: known,
		Follows: func(h plumbing.Hash) (bool, error) {
			if err := r.graph.Add(tip); err != nil {
				return false, err
			}
			return r.graph.Ancestor(h, tip)
		},
		Pack: func(ctx context.Context, w io.Writer, haves []plumbing.Hash) error {
			if err := r.graph.Add(tip); err != nil {
				return err
			}
			ids, err := history.NewObjects(ctx, store, r.graph, []plumbing.Hash{tip}, haves)
			if err != nil {
				return err
			}
			return store.EncodePack(w, ids)
		},
	}
}

// part takes the events that the remote named out of the log, after the
// caller has put them in a safe place, so that the others can go.
func (r *Replica) part(ctx context.Context, known plumbing.Hash, head eventlog.Head, declined *DeclinedError) ([]Parked, error) {
	reasons := map[event.ID]hubwire.Refusal{}
	for _, f := range declined.Refusals {
		if f.Event == "" {
			return nil, &RefusedError{Message: declined.Message}
		}
		if _, ok := reasons[f.Event]; !ok {
			reasons[f.Event] = f
		}
	}
	if len(reasons) == 0 || known.IsZero() {
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
	_, err = r.replay(ctx, known, func(s eventlog.Stored) bool { _, refused := reasons[s.ID]; return refused })
	if err != nil && !errors.Is(err, eventlog.ErrBusy) {
		return nil, err
	}
	return parked, nil
}
