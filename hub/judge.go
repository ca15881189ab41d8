package hub

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/sync/gittree"
	"cairn/sync/intake"
)

// pusher is how a push of the caller's to the space is judged.
func (h *Hub) pusher(who caller, space string) repository.Pusher {
	return repository.Pusher{
		Device: who.ID, Person: who.Person, Raw: h.scan,
		Judge: func() (func(event.Event) []intake.Finding, error) { return h.admission(who, space) },
	}
}

// admission judges by the members as they are now. The caller's own right may
// have ended while the push was under way.
func (h *Hub) admission(who caller, space string) (func(event.Event) []intake.Finding, error) {
	m, err := h.members.Now()
	if err != nil {
		return nil, err
	}
	if err := mayUse(m, who, space, devices.Write); err != nil {
		return nil, err
	}
	return repository.Admission{Members: m, Space: space, Owner: who.Person, Now: h.now(), Decide: h.judge}.Admit, nil
}

// judge has the policy decide, and then whoever opened the hub.
func (h *Hub) judge(e event.Event) []intake.Finding {
	found := findings(h.policy.Decide(e))
	if h.decide != nil {
		found = append(found, findings(h.decide(e))...)
	}
	return found
}

// scan looks at the bytes of an object, whatever it is.
func (h *Hub) scan(kind plumbing.ObjectType, data []byte) []intake.Finding {
	if kind == plumbing.TreeObject {
		if entries, err := gittree.ParseLenient(data); err == nil {
			return h.scanNames(entries)
		}
	}
	return findingsIn(h.policy.DecideRaw(kind.String(), data), hintSecret)
}

// scanNames looks at the names in a tree. Between them stand object ids, bytes
// at random that now and then look like anything; whoever wants to hide words
// there has to find objects that hash to them.
func (h *Hub) scanNames(entries []gittree.Entry) []intake.Finding {
	var found []intake.Finding
	for _, e := range entries {
		if wordless(e.Name) {
			continue
		}
		for _, f := range findingsIn(h.policy.DecideRaw(policy.Ref, []byte(e.Name)), hintSecret) {
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
		if len(refused.Findings) > 0 {
			return findingsIn(refused.Findings, refused.Hint())
		}
		return []intake.Finding{{Rule: refused.Rule, Field: refused.Field, Hint: refused.Hint()}}
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

// refusedPush records a push that got no further than its space.
func (h *Hub) refusedPush(who caller, space string, err error) error {
	r := audit.Record{
		Person: who.Person, Device: who.ID, Addr: who.addr, Action: "push", Space: space,
		Verdict: audit.Refused, Rules: []string{string(problem.Of(err).Code)},
	}
	return errors.Join(err, h.audit.Append(r))
}
