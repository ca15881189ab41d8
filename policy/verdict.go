package policy

import (
	"errors"
	"slices"

	"cairn/internal/problem"
	"cairn/policy/rules"
	"cairn/policy/secrets"
)

// scannerFor finds secrets as the policy has it in a space.
func (p *Policy) scannerFor(space string) *secrets.Scanner {
	if p.rules == nil {
		return p.scanner
	}
	return p.rules.Scanner(space)
}

// onTrial says whether a rule about secrets only reports.
func (p *Policy) onTrial(rule string) bool {
	return p.rules != nil && p.rules.Stage(rule) == rules.Report
}

// A verdict is everything that speaks against an event.
type verdict struct {
	found   []Finding         // secrets
	broken  []rules.Violation // of the team's file
	reports []Finding         // what only goes on record
}

// sorted puts apart what refuses an event and what is on trial.
func (p *Policy) sorted(s rules.Subject, found []Finding) verdict {
	var v verdict
	for _, f := range found {
		if p.onTrial(f.Rule) {
			v.reports = append(v.reports, f)
		} else {
			v.found = append(v.found, f)
		}
	}
	if p.rules == nil {
		return v
	}
	for _, b := range p.rules.Judge(s) {
		if b.Stage == rules.Report {
			v.reports = append(v.reports, Finding{Field: b.Field, Finding: secrets.Finding{Rule: b.Rule}})
		} else {
			v.broken = append(v.broken, b)
		}
	}
	return v
}

// refusal is the *RefusedError that the verdict comes to; nil for none.
func (v verdict) refusal() error {
	switch {
	case len(v.found) > 0:
		return &RefusedError{Code: problem.Secret, Rule: v.found[0].Rule, Field: v.found[0].Field, Findings: v.found, Violations: v.broken}
	case len(v.broken) > 0:
		first := v.broken[0]
		return &RefusedError{Code: codeOf(first), Rule: first.Rule, Field: first.Field, Violations: v.broken, Err: errors.New(first.Reason)}
	}
	return nil
}

func codeOf(b rules.Violation) problem.Code {
	if b.Rule == rules.RuleEventSize {
		return problem.TooBig
	}
	return problem.Policy
}

// A Place is a rule that an event breaks, and where.
type Place struct{ Rule, Field string }

// Places lists every rule that refused the event once for each field: secrets,
// then the team's rules.
func (e *RefusedError) Places() []Place {
	places := []Place{}
	add := func(rule, field string) {
		if at := (Place{rule, field}); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	for _, f := range e.Findings {
		add(f.Rule, f.Field)
	}
	for _, b := range e.Violations {
		add(b.Rule, b.Field)
	}
	if len(places) == 0 {
		add(e.Rule, e.Field)
	}
	return places
}
