package trial

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/internal/event"
	"cairn/policy"
	"cairn/policy/rules"
)

// A Trial compares two policies by what they say of events. It is not safe for
// concurrent use.
type Trial struct {
	before, after *policy.Policy
	now           time.Time
	used          map[rules.Exception]bool // those that excused something
	hit           map[string]bool          // patterns that found something that nothing excuses
	result        Result
}

// A Break is a rule that an event breaks.
type Break struct {
	ID    event.ID `json:"id"`
	Rule  string   `json:"rule"`
	Field string   `json:"field"`
}

// An Ending is an event that comes to its end.
type Ending struct {
	ID event.ID   `json:"id"`
	At event.Time `json:"at"`
}

// An Idle line of the file has done nothing.
type Idle struct {
	What string `json:"what"` // for example pattern acme-key
	Line int    `json:"line"`
}

// A Result is what a policy would change.
type Result struct {
	Events         int        `json:"events"`
	NewlyRefused   []Break    `json:"newly_refused"`
	NewlyAllowed   []Break    `json:"newly_allowed"` // with the rule that refuses it now
	Reported       []Break    `json:"reported"`      // by rules on trial
	OverLimit      []event.ID `json:"over_limit"`    // larger than an event may be
	Unsigned       []event.ID `json:"unsigned"`
	Expiring       []Ending   `json:"expiring"` // at an end already, or within Soon
	MatchedNothing []Idle     `json:"matched_nothing"`
}

// Soon is how far ahead a trial looks for what comes to an end.
const Soon = 30 * 24 * time.Hour

// New tries the rules of a file that is not in force against the policy that
// is. Without the team's key in them no exception for a value is tried, and
// none is listed as idle.
func New(before *policy.Policy, after *rules.Rules, now time.Time) *Trial {
	t := &Trial{before: before, now: now, used: map[rules.Exception]bool{}, hit: map[string]bool{}}
	t.result = Result{
		NewlyRefused: []Break{}, NewlyAllowed: []Break{}, Reported: []Break{}, OverLimit: []event.ID{}, Unsigned: []event.ID{},
		Expiring: []Ending{}, MatchedNothing: []Idle{},
	}
	t.after = policy.With(before.Number()+1, after.Telling(func(by rules.Exception) { t.used[by] = true }))
	return t
}

// Add tries one event. An error means that it is no event that a policy could
// judge.
func (t *Trial) Add(e event.Event) error {
	_, errBefore := t.before.DecideFrom("", e)
	was, err := refusal(errBefore)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	reports, errAfter := t.after.DecideFrom("", e)
	is, err := refusal(errAfter)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.ID, err)
	}
	t.result.Events++
	for _, f := range reports {
		t.hit[f.Rule] = true
		t.result.Reported = append(t.result.Reported, Break{e.ID, f.Rule, f.Field})
	}
	switch {
	case is != nil && was == nil:
		t.result.NewlyRefused = append(t.result.NewlyRefused, breaks(e.ID, is)...)
	case is == nil && was != nil:
		t.result.NewlyAllowed = append(t.result.NewlyAllowed, breaks(e.ID, was)...)
	}
	t.note(e, is)
	return nil
}

// refusal is the error of a decision, if it is one.
func refusal(err error) (*policy.RefusedError, error) {
	if err == nil {
		return nil, nil
	}
	if refused, ok := errors.AsType[*policy.RefusedError](err); ok {
		return refused, nil
	}
	return nil, err
}

func breaks(id event.ID, refused *policy.RefusedError) []Break {
	var list []Break
	for _, at := range refused.Places() {
		list = append(list, Break{id, at.Rule, at.Field})
	}
	return list
}

// note keeps what the new policy says of an event, whatever the old one does.
func (t *Trial) note(e event.Event, refused *policy.RefusedError) {
	if refused != nil {
		for _, at := range refused.Places() {
			t.hit[at.Rule] = true
			if at.Rule == rules.RuleEventSize {
				t.result.OverLimit = append(t.result.OverLimit, e.ID)
			}
		}
	}
	if e.Sig == nil {
		t.result.Unsigned = append(t.result.Unsigned, e.ID)
	}
	if at, ok := t.after.Rules().Ends(e); ok && at.Before(t.now.Add(Soon)) {
		t.result.Expiring = append(t.result.Expiring, Ending{e.ID, event.NewTime(at)})
	}
}

// Result is what the events so far have shown.
func (t *Trial) Result() Result {
	r := t.result
	r.Expiring = append([]Ending{}, r.Expiring...)
	slices.SortFunc(r.Expiring, func(a, b Ending) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(a.ID, b.ID))
	})
	r.MatchedNothing = append([]Idle{}, t.idle()...)
	return r
}

// idle lists the entries of the file that have done nothing.
func (t *Trial) idle() (list []Idle) {
	after := t.after.Rules()
	file, excused := after.File(), map[string]bool{}
	for by := range t.used {
		excused[by.Rule] = true
	}
	for _, p := range file.Patterns {
		if !t.hit[p.ID] && !excused[p.ID] {
			list = append(list, Idle{"pattern " + p.ID, p.Line})
		}
	}
	for _, a := range file.Allow {
		if after.Keyed() && !t.used[a.Exception()] {
			list = append(list, Idle{"allow " + a.Rule, a.Line})
		}
	}
	for _, o := range file.Off {
		if !t.used[o.Exception()] {
			list = append(list, Idle{"off " + o.Rule, o.Line})
		}
	}
	return list
}
