package rules

import (
	"fmt"
	"strings"

	"cairn/internal/event"
	"cairn/policy/scope"
)

// What a step of an explanation comes to.
const (
	Allows  = "allows"
	Refuses = "refuses"
	Reports = "reports" // on trial: it refuses nothing yet
	Silent  = "silent"  // the file does not say anything about it
	Ends    = "ends"    // when an event will count as expired
)

// A Step is one rule that was looked at, and what came of it.
type Step struct {
	Rule    string `json:"rule"`
	Line    int    `json:"line,omitempty"` // of the policy file
	Verdict string `json:"verdict"`
	Detail  string `json:"detail,omitempty"` // holds nothing that an event's writer chose
}

// Explain says of each rule of the file what it says of an event, secrets left
// aside, whether it refuses it or not.
func (r *Rules) Explain(s Subject) []Step {
	name := s.Event.Space
	if name == scope.Local {
		return []Step{{Rule: RuleSpace, Verdict: Silent, Detail: "a team's policy does not reach the space local"}}
	}
	space, ok := r.space(name)
	if !ok {
		return []Step{{Rule: RuleSpace, Verdict: Refuses, Detail: noSpace}}
	}
	var steps []Step
	for _, q := range questions {
		steps = append(steps, q.step(space, q.ask(r, space, s)))
	}
	return append(steps, r.end(s.Event))
}

// step is what one rule came to.
func (q question) step(space *Space, broken *Violation) Step {
	s := Step{Rule: q.rule, Line: q.line(space), Verdict: Allows}
	switch {
	case broken != nil:
		s.Line, s.Detail, s.Verdict = broken.Line, broken.Reason, Refuses
		if broken.Stage == Report {
			s.Verdict = Reports
		}
	case s.Line == 0:
		s.Verdict = Silent
	}
	return s
}

func (r *Rules) end(e event.Event) Step {
	at, ends := r.Ends(e)
	if !ends {
		return Step{Rule: "retention", Verdict: Silent, Detail: "it is kept forever"}
	}
	return Step{Rule: "retention", Verdict: Ends, Detail: "it counts as expired from " + at.UTC().Format("2006-01-02 15:04 MST")}
}

// ExplainPerson says of each right whether the policy leaves it to a person in
// a space.
func (r *Rules) ExplainPerson(person, name string) []Step {
	space, ok := r.space(name)
	var steps []Step
	for _, right := range Rights() {
		s := Step{Rule: string(right), Verdict: Refuses}
		if r.May(person, name, right) {
			s.Verdict = Allows
		}
		switch {
		case !ok:
			s.Detail = noSpace
		case space.Line == 0:
			s.Detail = "the policy does not speak of rights there"
		default:
			s.Line, s.Detail = space.Line, listed(right, space)
		}
		steps = append(steps, s)
	}
	return steps
}

// listed is whom the file names for a right.
func listed(right Right, s *Space) string {
	list := map[Right][]string{Read: s.Read, Write: s.Write, Admin: s.Admin, Redact: s.Redact}[right]
	if list == nil && right == Redact {
		return "the file names nobody for it: whoever may write"
	}
	if list == nil {
		return "the file names nobody for it: those of the team's admins who are named otherwise"
	}
	return fmt.Sprintf("the file names %s", strings.Join(list, ", "))
}
