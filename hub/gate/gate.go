package gate

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/sync/gittree"
	"cairn/sync/intake"
)

// A Gate judges by a policy. It is safe for concurrent use.
type Gate struct {
	Policy *policy.Policy
	Space  string // that is pushed to, if it is known
	// Person is whose device it is, "" for nobody known; nil if no device is.
	Person func(event.DeviceID) string
	// OnTrial is told the rules that only report, where they found something.
	OnTrial func(rule string)
	// Also adds a rule to those of the policy: an event for which it returns an
	// error is refused. It may be nil.
	Also func(event.Event) error
}

// Event has the policy decide, and then whoever added a rule.
func (g Gate) Event(e event.Event) []intake.Finding {
	found := findings(g.decide(e))
	if g.Also != nil {
		found = append(found, findings(g.Also(e))...)
	}
	return found
}

// decide tells apart what rules on trial find: that refuses nothing.
func (g Gate) decide(e event.Event) error {
	if g.Person == nil {
		return g.Policy.Decide(e)
	}
	reports, err := g.Policy.DecideFrom(g.Person(e.Actor.Device), e)
	if g.OnTrial != nil {
		for _, f := range reports {
			g.OnTrial(f.Rule)
		}
	}
	return err
}

// Raw looks at the bytes of an object, whatever it is. It is for intake.Options.
func (g Gate) Raw(kind plumbing.ObjectType, data []byte) []intake.Finding {
	if kind == plumbing.TreeObject {
		if entries, err := gittree.ParseLenient(data); err == nil {
			return g.names(entries)
		}
	}
	return findingsIn(g.Policy.DecideRawIn(g.Space, kind.String(), data), hintSecret)
}

// names looks at the names in a tree. Between them stand object ids, bytes at
// random that now and then look like anything; whoever wants to hide words
// there has to find objects that hash to them.
func (g Gate) names(entries []gittree.Entry) []intake.Finding {
	var found []intake.Finding
	for _, e := range entries {
		if wordless(e.Name) {
			continue
		}
		for _, f := range findingsIn(g.Policy.DecideRawIn(g.Space, policy.Ref, []byte(e.Name)), hintSecret) {
			f.Field = "name"
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found
}

var datePart = regexp.MustCompile(`^(\d{4}-\d{2}|\d{2})$`)

// wordless says whether a name has one of the forms that leave its writer no
// choice of words; most names in a space do.
func wordless(name string) bool {
	id, isFile := strings.CutSuffix(name, ".json")
	if isFile {
		_, err := event.ParseID(id)
		return err == nil || name == commitform.SpaceFile
	}
	return name == "events" || datePart.MatchString(name)
}

const hintSecret = "take the secret out of your history and revoke it: it has left your machine"

// findings is a decision against an event, as the intake reports it. Of the
// error only rule, field and hint are used: they hold nothing of the text.
func findings(err error) []intake.Finding {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*policy.RefusedError](err); ok {
		var found []intake.Finding
		for _, at := range refused.Places() {
			found = append(found, intake.Finding{Rule: at.Rule, Field: at.Field, Hint: refused.Hint() + excusable(refused, at)})
		}
		return found
	}
	if invalid, ok := errors.AsType[*event.InvalidError](err); ok {
		return []intake.Finding{{Rule: intake.RuleEvent, Field: invalid.Field}}
	}
	f := intake.Finding{Rule: "policy"}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		f.Field, f.Hint = p.Field, p.Hint
		if p.Rule != "" {
			f.Rule = p.Rule
		}
	}
	return []intake.Finding{f}
}

// excusable says by what the team's admins could excuse the value that was
// found.
func excusable(refused *policy.RefusedError, at policy.Place) string {
	for _, f := range refused.Findings {
		if f.Rule == at.Rule && f.Field == at.Field && f.Fingerprint != "" {
			return "; an admin of the policy excuses it by the fingerprint " + f.Fingerprint
		}
	}
	return ""
}

// findingsIn tells each rule once for each field.
func findingsIn(list []policy.Finding, hint string) []intake.Finding {
	var found []intake.Finding
	for _, f := range list {
		at := intake.Finding{Rule: f.Rule, Field: f.Field, Hint: hint}
		if !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}
