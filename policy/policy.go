package policy

import (
	"errors"
	"fmt"
	"strings"

	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/policy/secrets"
)

// A Policy decides. It never changes and is safe for concurrent use.
type Policy struct {
	number  int
	scanner *secrets.Scanner
}

// Default is the policy of a space whose team has made none: number 1.
func Default() *Policy {
	return &Policy{number: 1, scanner: secrets.New()}
}

// Number is what an event carries as the policy its writer applied.
func (p *Policy) Number() int { return p.number }

// Decide returns nil if the event may be stored, and a *RefusedError if not.
// An event that breaks the format is the caller's mistake: its *InvalidError
// is returned as it is. The signature is not looked at.
func (p *Policy) Decide(e event.Event) error {
	if err := checkForm(e); err != nil {
		return err
	}
	if err := scope.Allowed(e.Space, e.Classification); err != nil {
		return &RefusedError{Code: problem.Policy, Rule: "classification", Field: "classification", Err: err}
	}
	found, err := p.secretsIn(e)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &RefusedError{Code: problem.Secret, Rule: found[0].Rule, Field: found[0].Field, Findings: found}
	}
	return nil
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

// secretsIn scans every field with its name, and the bytes of the file as the
// hub will see them, so that nothing passes here that is refused there.
func (p *Policy) secretsIn(e event.Event) ([]Finding, error) {
	fields, err := event.Fields(e)
	if err != nil {
		return nil, refuseSize(err)
	}
	file, err := event.Unsigned(e)
	if err != nil {
		return nil, refuseSize(err)
	}
	var found []Finding
	for _, f := range fields {
		if repeats(f, e.Payload) {
			continue
		}
		for _, s := range p.scanner.ScanNamed(nameOf(f, e.Payload), []byte(f.Value)) {
			found = append(found, Finding{f.Path, s})
		}
	}
	for _, s := range p.scanner.Scan(file) {
		if !hasRule(found, s.Rule) {
			found = append(found, Finding{"event", s})
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
