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
	most          int                      // of what is listed; 0 for all
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
	Counts         Counts     `json:"-"` // also of what a bounded trial does not list
	Newer          int        `json:"-"` // that only a newer cairn can read, and were not tried
}

// Counts are numbers of events.
type Counts struct {
	NewlyRefused, NewlyAllowed, Reported, OverLimit, Unsigned, Expiring int
}

// Soon is how far ahead a trial looks for what comes to an end.
const Soon = 30 * 24 * time.Hour

// New tries the rules of a file that is not in force against the policy that
// is. Without the team's key in them no exception for a value is tried, and
// none is listed as idle.
func New(before *policy.Policy, after *rules.Rules, now time.Time) *Trial {
	t := &Trial{before: before, now: now, used: map[rules.Exception]bool{}, hit: map[string]bool{}}
	t.result = noResult()
	t.after = policy.With(before.Number()+1, after.Telling(func(by rules.Exception) { t.used[by] = true }))
	return t
}

func noResult() Result {
	return Result{
		NewlyRefused: []Break{}, NewlyAllowed: []Break{}, Reported: []Break{}, OverLimit: []event.ID{}, Unsigned: []event.ID{},
		Expiring: []Ending{}, MatchedNothing: []Idle{},
	}
}

// Bounded makes the trial list no more than so many events of each kind, and of
// each event no more than the first 32 breaks, and so bounds its memory. What is
// counted goes on.
func (t *Trial) Bounded(most int) *Trial {
	t.most = most
	return t
}

// Beside is another trial of the same two policies, for events of which there
// shall be a result of their own. A line of the file counts as idle if it has
// done nothing in any of them.
func (t *Trial) Beside() *Trial {
	beside := *t
	beside.result = noResult()
	return &beside
}

// add lists more, as far as there is room.
func add[T any](most int, list []T, more ...T) []T {
	if most > 0 {
		more = more[:min(len(more), max(0, most-len(list)))]
	}
	return append(list, more...)
}

// mostBreaks is how many breaks a bounded trial lists of one event.
const mostBreaks = 32

// addBreaks lists those of one more event, the n-th that has any.
func (t *Trial) addBreaks(list []Break, n int, of []Break) []Break {
	switch {
	case t.most == 0:
		return append(list, of...)
	case n > t.most:
		return list
	}
	return append(list, of[:min(len(of), mostBreaks)]...)
}

// AddStored is Add for an event as it is stored. One of a newer schema is
// counted and not tried.
func (t *Trial) AddStored(stored []byte) error {
	e, err := event.Decode(stored)
	if _, newer := errors.AsType[*event.NewerSchemaError](err); newer {
		t.result.Newer++
		return nil
	}
	if err != nil {
		return err
	}
	return t.Add(e)
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
	t.report(e.ID, reports)
	r := &t.result
	switch {
	case is != nil && was == nil:
		r.Counts.NewlyRefused++
		r.NewlyRefused = t.addBreaks(r.NewlyRefused, r.Counts.NewlyRefused, breaks(e.ID, is))
	case is == nil && was != nil:
		r.Counts.NewlyAllowed++
		r.NewlyAllowed = t.addBreaks(r.NewlyAllowed, r.Counts.NewlyAllowed, breaks(e.ID, was))
	}
	t.note(e, is)
	return nil
}

// report keeps what rules on trial have found, once for each field.
func (t *Trial) report(id event.ID, found []policy.Finding) {
	if len(found) == 0 {
		return
	}
	var list []Break
	for _, f := range found {
		t.hit[f.Rule] = true
		if b := (Break{id, f.Rule, f.Field}); !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	r := &t.result
	r.Counts.Reported++
	r.Reported = t.addBreaks(r.Reported, r.Counts.Reported, list)
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
	r := &t.result
	if refused != nil {
		for _, at := range refused.Places() {
			t.hit[at.Rule] = true
			if at.Rule == rules.RuleEventSize {
				r.Counts.OverLimit++
				r.OverLimit = add(t.most, r.OverLimit, e.ID)
			}
		}
	}
	if e.Sig == nil {
		r.Counts.Unsigned++
		r.Unsigned = add(t.most, r.Unsigned, e.ID)
	}
	if at, ok := t.after.Rules().Ends(e); ok && at.Before(t.now.Add(Soon)) {
		r.Counts.Expiring++
		r.Expiring = add(t.most, r.Expiring, Ending{e.ID, event.NewTime(at)})
	}
}

// With adds up two results of trials beside each other.
func (r Result) With(more Result) Result {
	r.Events += more.Events
	r.Newer += more.Newer
	r.NewlyRefused = slices.Concat(r.NewlyRefused, more.NewlyRefused)
	r.NewlyAllowed = slices.Concat(r.NewlyAllowed, more.NewlyAllowed)
	r.Reported = slices.Concat(r.Reported, more.Reported)
	r.OverLimit = slices.Concat(r.OverLimit, more.OverLimit)
	r.Unsigned = slices.Concat(r.Unsigned, more.Unsigned)
	r.Expiring = slices.Concat(r.Expiring, more.Expiring)
	c, d := &r.Counts, more.Counts
	c.NewlyRefused += d.NewlyRefused
	c.NewlyAllowed += d.NewlyAllowed
	c.Reported += d.Reported
	c.OverLimit += d.OverLimit
	c.Unsigned += d.Unsigned
	c.Expiring += d.Expiring
	return r
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
