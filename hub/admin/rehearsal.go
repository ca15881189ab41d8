package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/hub/dryrun"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/trial"
)

// A Rehearsal is a policy file that is tried on what the hub has.
type Rehearsal struct {
	Trial   *dryrun.Trial
	Rights  []trial.Change
	MayRead func(space string) bool // whether who asks may know its events
}

// How long a question waits for a trial, which goes on without it.
const (
	tryWhileShown  = 5 * time.Second
	tryWhileSigned = 20 * time.Second
	tryWhileStrict = 10 * time.Minute
	tryOnceMore    = 5 * time.Second // what came while it was signed
)

// How much an answer holds.
const (
	breaksListed  = 20  // of each space
	listed        = 500 // of all spaces together, and of rights
	refusedListed = 10  // in a message
)

const (
	acceptedAtOnce = 1000
	leastReference = 6 // characters of an id
)

// RuleNewlyRefused is the rule of a version that was to refuse nothing of what
// is there.
const RuleNewlyRefused = "newly-refused"

// tell is what a trial has found, as whoever asks may see it.
func (r *Rehearsal) tell(found dryrun.Result, accept []string) *hubwire.PolicyTrial {
	t := &hubwire.PolicyTrial{
		Complete: found.Complete, Spaces: []hubwire.PolicyTried{}, Rights: []hubwire.PolicyChange{},
		MatchedNothing: []hubwire.PolicyIdle{}, Untried: []string{}, Accepted: []event.ID{},
	}
	room := listed
	for _, s := range found.Spaces {
		t.Events += s.Events
		t.NewlyRefused += s.Counts.NewlyRefused
		t.NewlyAllowed += s.Counts.NewlyAllowed
		if s.Counts.NewlyRefused+s.Counts.NewlyAllowed == 0 {
			continue
		}
		in := hubwire.PolicyTried{Space: s.Name, Events: s.Events, NewlyRefused: s.Counts.NewlyRefused, NewlyAllowed: s.Counts.NewlyAllowed}
		in.Refused = breaks(s.NewlyRefused, r.mayKnow(s.Name), &room)
		in.Allowed = breaks(s.NewlyAllowed, r.mayKnow(s.Name), &room)
		t.Spaces = append(t.Spaces, in)
	}
	t.Accepted = append(t.Accepted, r.accepted(found.Spaces, accept)...)
	for _, c := range r.Rights[:min(len(r.Rights), listed)] {
		t.Rights = append(t.Rights, hubwire.PolicyChange{Person: c.Person, Space: c.Space, Gains: words(c.Gains), Loses: words(c.Loses)})
	}
	t.Untried = append(t.Untried, found.Untried...)
	if !found.Complete {
		return t // who knows what a line would do about the rest
	}
	for _, i := range found.Idle {
		t.MatchedNothing = append(t.MatchedNothing, hubwire.PolicyIdle(i))
	}
	return t
}

func words[T ~string](list []T) []string {
	out := []string{}
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

func breaks(list []trial.Break, mayKnow bool, room *int) []hubwire.PolicyBreak {
	out := []hubwire.PolicyBreak{}
	if !mayKnow {
		return out
	}
	for _, b := range list[:min(len(list), breaksListed, *room)] {
		out = append(out, hubwire.PolicyBreak(b))
	}
	*room -= len(out)
	return out
}

// accepted are the newly refused events that somebody has named: each by its
// id, or by a start or end of it that no other of them has, in any space that
// they may read.
func (r *Rehearsal) accepted(spaces []dryrun.SpaceResult, accept []string) []event.ID {
	var ids []event.ID
	for _, s := range spaces {
		if !r.mayKnow(s.Name) {
			continue
		}
		for _, b := range s.NewlyRefused {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var out []event.ID
	for _, ref := range accept {
		ref = strings.ToLower(strings.Trim(ref, "~"))
		if len(ref) < leastReference {
			continue
		}
		means := slices.DeleteFunc(slices.Clone(ids), func(id event.ID) bool {
			return !strings.HasPrefix(string(id), ref) && !strings.HasSuffix(string(id), ref)
		})
		if len(means) == 1 && !slices.Contains(out, means[0]) {
			out = append(out, means[0])
		}
	}
	return out
}

// mayKnow says whether whoever asks may know the events of a space by their ids.
func (r *Rehearsal) mayKnow(space string) bool {
	return space != hubwire.Personal && r.MayRead(space)
}

// strictly is why a version is not taken that must refuse nothing but what was
// accepted; nil if it may be. People's own spaces do not count: their events are
// for nobody else to name.
func (r *Rehearsal) strictly(found dryrun.Result, accept []string) error {
	if !found.Complete {
		p := &problem.Problem{Code: problem.Busy, Message: "not everything that the hub has could be tried yet; nothing was changed", Hint: "give the command again: the hub goes on trying meanwhile"}
		if len(found.Untried) > 0 {
			p.Code, p.Hint = problem.Failed, "leave --strict out, or mend what cannot be read: "+strings.Join(found.Untried, ", ")
		}
		return p
	}
	refused, why := r.unaccepted(found.Spaces, accept)
	if refused == 0 {
		return nil
	}
	return &problem.Problem{
		Code: problem.Policy, Rule: RuleNewlyRefused,
		Message: fmt.Sprintf("%d events that pass now would be refused, and were not accepted; nothing was changed: %s", refused, strings.Join(why, "; ")),
		Hint:    "change the file, or name each with --accept ID, to be redacted afterwards",
	}
}

// unaccepted counts what is newly refused and was not named, and names the first
// of it.
func (r *Rehearsal) unaccepted(spaces []dryrun.SpaceResult, accept []string) (refused int, first []string) {
	named := r.accepted(spaces, accept)
	for _, s := range spaces {
		if s.Name == hubwire.Personal || s.Counts.NewlyRefused == 0 {
			continue
		}
		if !r.MayRead(s.Name) {
			refused += s.Counts.NewlyRefused
			if len(first) < refusedListed {
				first = append(first, fmt.Sprintf("%d in the space %s, which you may not read", s.Counts.NewlyRefused, s.Name))
			}
			continue
		}
		refused += s.Counts.NewlyRefused
		var seen []event.ID
		for _, b := range s.NewlyRefused {
			if slices.Contains(seen, b.ID) {
				continue
			}
			seen = append(seen, b.ID)
			if slices.Contains(named, b.ID) {
				refused--
			} else if len(first) < refusedListed {
				first = append(first, fmt.Sprintf("%s (%s in %s, space %s)", b.ID, b.Rule, b.Field, s.Name))
			}
		}
	}
	return refused, first
}

// A trying is a signature's trial.
type trying struct {
	*Rehearsal
	accept []string
}

// try tries a file before it is signed. Nil means that nobody asked for it, or
// that it could not be tried, which keeps no version back but a strict one.
func (a *Admin) try(ctx context.Context, by Caller, text []byte, r hubwire.PolicyRequest) (*trying, error) {
	strict := r.Verb == hubwire.PolicyProposeStrictly || r.Verb == hubwire.PolicyApproveStrictly
	if strict && (a.Rehearse == nil || len(r.Accept) > acceptedAtOnce) {
		return nil, problem.New(problem.Usage, "the hub cannot do that: it tries nothing, or too many events were accepted; nothing was changed")
	}
	if a.Rehearse == nil || r.Untested && !strict {
		return nil, nil
	}
	rehearsal, err := a.Rehearse(by, text)
	if err != nil && !strict {
		return nil, nil // a policy that cannot be judged by is mended by the next version
	}
	if err != nil {
		return nil, err
	}
	wait := tryWhileSigned
	if strict {
		wait = tryWhileStrict
	}
	found, err := rehearsal.Trial.Result(ctx, wait)
	if err == nil && strict {
		err = rehearsal.strictly(found, r.Accept)
	}
	return &trying{rehearsal, r.Accept}, err
}

// tryShown adds to the version that waits what it would change, if it is shown
// to somebody who may sign it.
func (a *Admin) tryShown(ctx context.Context, by Caller, n int, answer *hubwire.PolicyAnswer) error {
	waiting, err := a.Policies.Pending()
	if err != nil || waiting == nil || waiting.Number != n || a.Rehearse == nil || a.maySign(by) != nil {
		return err
	}
	r, err := a.Rehearse(by, answer.File)
	if err != nil {
		return nil // the version is shown all the same
	}
	found, err := r.Trial.Result(ctx, tryWhileShown)
	if err == nil {
		answer.Trial = r.tell(found, nil)
	}
	return err
}

// tryWaiting tries the version that waits under the number. What does not wait
// is for the store to refuse.
func (a *Admin) tryWaiting(ctx context.Context, by Caller, r hubwire.PolicyRequest) (*trying, error) {
	waiting, err := a.Policies.Pending()
	if err != nil || waiting == nil || waiting.Number != r.Number {
		return nil, err
	}
	text, err := a.Policies.File(waiting.Proposal.File)
	if err != nil {
		return nil, err
	}
	return a.try(ctx, by, text, r)
}

// tried adds to an answer what was tried in the end, with what came while it was
// signed.
func (a *Admin) tried(ctx context.Context, t *trying) func(hubwire.PolicyAnswer, error) (hubwire.PolicyAnswer, error) {
	return func(answer hubwire.PolicyAnswer, err error) (hubwire.PolicyAnswer, error) {
		if t == nil || err != nil {
			return answer, err
		}
		if found, err := t.Trial.Result(ctx, tryOnceMore); err == nil { // or whoever asked has left
			answer.Trial = t.tell(found, t.accept)
		}
		return answer, nil
	}
}
