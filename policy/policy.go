package policy

import (
	"errors"
	"fmt"
	"strings"

	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/rules"
	"cairn/policy/scope"
	"cairn/policy/secrets"
)

// A Policy decides. It never changes and is safe for concurrent use.
type Policy struct {
	number  int
	scanner *secrets.Scanner
	rules   *rules.Rules // the team's; nil if it has made none
}

// Default is the policy of a space whose team has made none: number 1.
func Default() *Policy {
	return &Policy{number: 1, scanner: secrets.New()}
}

// With is the policy of a team: the built-in gate, and beside it the rules of
// the team's file of that number. Of the gate it leaves out only what the file
// excuses, with a name and an end.
func With(number int, r *rules.Rules) *Policy {
	return &Policy{number: number, scanner: secrets.New(), rules: r}
}

// Number is what an event carries as the policy its writer applied.
func (p *Policy) Number() int { return p.number }

// Rules are the team's, nil if it has made none.
func (p *Policy) Rules() *rules.Rules { return p.rules }

// Decide returns nil if the event may be stored, and a *RefusedError if not.
// An event that breaks the format is the caller's mistake: its *InvalidError
// is returned as it is. The signature is not looked at, nor who brings the
// event.
func (p *Policy) Decide(e event.Event) error {
	_, err := p.judge(rules.Subject{Event: e, Draft: true})
	return err
}

// DecideFrom is Decide for a finished event that a person brings. Beside the
// refusal it returns what rules on trial have found, which refuses nothing and
// is to be put on record.
func (p *Policy) DecideFrom(person string, e event.Event) (reports []Finding, err error) {
	return p.judge(rules.Subject{Event: e, Person: person})
}

func (p *Policy) judge(s rules.Subject) (reports []Finding, err error) {
	file, err := whole(s.Event)
	if err != nil {
		return nil, err
	}
	scanner := p.scannerFor(s.Event.Space)
	found, err := secretsIn(s.Event, file, func(string) *secrets.Scanner { return scanner })
	if err != nil {
		return nil, err
	}
	s.Size = len(file)
	v := p.sorted(s, found)
	return v.reports, v.refusal()
}

// whole is the file of an event, without its signature, if form and class are
// as they must be whatever a team says.
func whole(e event.Event) ([]byte, error) {
	if err := checkForm(e); err != nil {
		return nil, err
	}
	if err := scope.Allowed(e.Space, e.Classification); err != nil {
		return nil, &RefusedError{Code: problem.Policy, Rule: rules.RuleClassification, Field: "classification", Err: err}
	}
	file, err := event.Unsigned(e)
	if err != nil {
		return nil, refuseSize(err)
	}
	return file, nil
}

// checkForm turns the faults a writer can mend into refusals.
func checkForm(e event.Event) error {
	err := e.Validate()
	if big, ok := errors.AsType[*event.TooBigError](err); ok {
		return &RefusedError{Code: problem.TooBig, Rule: "size", Field: big.Field, Err: err}
	}
	if garbled, ok := errors.AsType[*event.NotUTF8Error](err); ok {
		return &RefusedError{Code: problem.NotUTF8, Rule: "encoding", Field: garbled.Field, Err: err}
	}
	return err
}

// wholeEvent stands for the field of what lies in no single one.
const wholeEvent = "event"

// secretsIn scans every field with its name, and the bytes of the file as the
// hub will see them, so that nothing passes here that is refused there. Which
// scanner looks at a field, it asks.
func secretsIn(e event.Event, file []byte, scanner func(field string) *secrets.Scanner) ([]Finding, error) {
	fields, err := event.Fields(e)
	if err != nil {
		return nil, refuseSize(err)
	}
	var found []Finding
	for _, f := range fields {
		if repeats(f, e.Payload) {
			continue
		}
		for _, s := range scanner(f.Path).ScanNamed(nameOf(f, e.Payload), []byte(f.Value)) {
			found = append(found, Finding{f.Path, s})
		}
	}
	for _, s := range scanner(wholeEvent).Scan(file) {
		if !hasRule(found, s.Rule) {
			found = append(found, Finding{wholeEvent, s})
		}
	}
	return found, nil
}

// repeats says whether a field only says again what another says, which is
// the one to name: the subject follows from the payload, and a title may be
// the beginning of its text.
func repeats(f event.Field, payload event.Payload) bool {
	switch f.Path {
	case "subject.id":
		return true
	case "payload.summary":
		note, ok := payload.(*event.Observe)
		return ok && strings.Contains(oneLine(note.Content), oneLine(note.Summary))
	}
	return false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func refuseSize(err error) error {
	if big, ok := errors.AsType[*event.TooBigError](err); ok {
		return &RefusedError{Code: problem.TooBig, Rule: "size", Field: big.Field, Err: err}
	}
	return fmt.Errorf("list the fields of an event: %w", err)
}

// nameOf is what a field's value is called by its writer: the title of a body
// is its name, such as the key of a preference.
func nameOf(f event.Field, payload event.Payload) string {
	if pref, ok := payload.(*event.Pref); ok && f.Path == "payload.previous_value" {
		return pref.Title()
	}
	if f.Value == payload.Body() && f.Value != payload.Title() {
		return payload.Title()
	}
	return ""
}

func hasRule(found []Finding, rule string) bool {
	for _, f := range found {
		if f.Rule == rule {
			return true
		}
	}
	return false
}
