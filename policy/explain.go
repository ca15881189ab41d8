package policy

import (
	"errors"
	"slices"

	"cairn/internal/event"
	"cairn/policy/rules"
	"cairn/policy/scope"
	"cairn/policy/secrets"
)

// Explain says of each rule, in the order in which they are looked at, what it
// says of a finished event that a person wrote. It holds nothing of the text.
func (p *Policy) Explain(person string, e event.Event) []rules.Step {
	steps := []rules.Step{verdictStep("form", checkForm(e)), verdictStep(rules.RuleClassification, scope.Allowed(e.Space, e.Classification))}
	file, err := event.Unsigned(e)
	if err != nil {
		return append(steps, verdictStep("form", err))
	}
	steps = append(steps, p.explainSecrets(e, file)...)
	if p.rules == nil {
		return steps
	}
	return append(steps, p.rules.Explain(rules.Subject{Event: e, Size: len(file), Person: person})...)
}

// verdictStep is what a check that refuses by that rule came to, if it does not
// name one of its own.
func verdictStep(rule string, err error) rules.Step {
	if err == nil {
		return rules.Step{Rule: rule, Verdict: rules.Allows}
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		rule, err = refused.Rule, refused.Err
	}
	return rules.Step{Rule: rule, Verdict: rules.Refuses, Detail: err.Error()}
}

// explainSecrets names what is found, and what is found and excused.
func (p *Policy) explainSecrets(e event.Event, file []byte) []rules.Step {
	var excused []rules.Step
	found, err := secretsIn(e, file, func(field string) *secrets.Scanner {
		return p.telling(func(by rules.Exception) { excused = excuse(excused, by, field) }).scannerFor(e.Space)
	})
	if err != nil {
		return []rules.Step{verdictStep("secrets", err)}
	}
	var steps []rules.Step
	for _, f := range found {
		steps = append(steps, p.foundStep(f))
	}
	steps = append(steps, excused...)
	if len(steps) == 0 {
		steps = append(steps, rules.Step{Rule: "secrets", Verdict: rules.Allows, Detail: "nothing is found"})
	}
	return steps
}

// telling is the same policy, which tells of each exception that excuses
// something.
func (p *Policy) telling(told func(rules.Exception)) *Policy {
	if p.rules == nil {
		return p
	}
	return With(p.number, p.rules.Telling(told))
}

func (p *Policy) foundStep(f Finding) rules.Step {
	s := rules.Step{Rule: f.Rule, Verdict: rules.Refuses, Detail: "in " + f.Field}
	if p.rules != nil {
		s.Line = p.rules.Line(f.Rule)
	}
	if p.onTrial(f.Rule) {
		s.Verdict = rules.Reports
	}
	return s
}

// excuse adds what an exception excuses in a field, once: a value is looked at
// in several readings, and again with the whole event.
func excuse(steps []rules.Step, by rules.Exception, field string) []rules.Step {
	s := rules.Step{Rule: by.Rule, Line: by.Line, Verdict: rules.Allows, Detail: "excused by the policy, in " + field}
	known := func(o rules.Step) bool {
		return o.Rule == s.Rule && o.Line == s.Line && (o.Detail == s.Detail || field == wholeEvent)
	}
	if slices.ContainsFunc(steps, known) {
		return steps
	}
	return append(steps, s)
}
