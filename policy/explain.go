package policy

import (
	"fmt"

	"cairn/internal/event"
	"cairn/policy/rules"
	"cairn/policy/scope"
)

// Explain says of each rule, in the order in which they are looked at, what it
// says of a finished event that a person wrote. It holds nothing of the text.
func (p *Policy) Explain(person string, e event.Event) []rules.Step {
	steps := []rules.Step{verdictStep("form", checkForm(e)), verdictStep("space", scope.Allowed(e.Space, e.Classification))}
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

func verdictStep(rule string, err error) rules.Step {
	if err != nil {
		return rules.Step{Rule: rule, Verdict: rules.Refuses, Detail: err.Error()}
	}
	return rules.Step{Rule: rule, Verdict: rules.Allows}
}

// explainSecrets names what is found, and what is found and excused.
func (p *Policy) explainSecrets(e event.Event, file []byte) []rules.Step {
	found, err := p.secretsIn(e, file)
	if err != nil {
		return []rules.Step{verdictStep("secrets", err)}
	}
	var steps []rules.Step
	for _, f := range found {
		s := rules.Step{Rule: f.Rule, Verdict: rules.Refuses, Detail: "in " + f.Field}
		if p.rules != nil {
			s.Line = p.rules.Line(f.Rule)
		}
		if p.onTrial(f.Rule) {
			s.Verdict = rules.Reports
		}
		steps = append(steps, s)
	}
	steps = append(steps, p.excused(e, file, found)...)
	if len(steps) == 0 {
		steps = append(steps, rules.Step{Rule: "secrets", Verdict: rules.Allows, Detail: "nothing is found"})
	}
	return steps
}

// excused is what the built-in rules alone would find.
func (p *Policy) excused(e event.Event, file []byte, found []Finding) (steps []rules.Step) {
	if p.rules == nil {
		return nil
	}
	plain := &Policy{number: p.number, scanner: p.scanner}
	all, err := plain.secretsIn(e, file)
	if err != nil {
		return nil // the same that was said of it before
	}
	for _, f := range all {
		if !hasRule(found, f.Rule) {
			steps = append(steps, rules.Step{Rule: f.Rule, Verdict: rules.Allows, Detail: fmt.Sprintf("excused by the policy, in %s", f.Field)})
		}
	}
	return steps
}
