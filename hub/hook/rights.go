package hook

import (
	"strings"

	"cairn/hub/gate"
	"cairn/internal/hubwire"
	"cairn/policy/rules"
	"cairn/sync/gitstore"
)

// limits are those of a push to a space, or to any if that is not known yet.
func (j *judge) limits(space string) gitstore.Limits {
	if j.o.Policy == nil || j.o.Policy.Rules() == nil {
		return j.o.Limits.Pack
	}
	r := j.o.Policy.Rules()
	l := r.File().Limits
	if space != "" {
		l = r.Limits(space)
	}
	return j.o.Limits.Lower(gitstore.Limits{Bytes: l.Push, Objects: int(l.Objects), Inflated: l.Inflated})
}

// allowed judges what is known now that the space is: how much may be pushed to
// it, and whether whoever pushes may write there.
func (j *judge) allowed() []string {
	size, most := j.in.Size(), j.limits(j.space.Name)
	if size.Bytes > most.Bytes || size.Objects > most.Objects || size.Inflated > most.Inflated {
		return append(refused(hubwire.RuleLimit, "the push is larger than the team's policy allows for this space"), "cairn: push fewer events at once, oldest first")
	}
	person := strings.ToLower(j.o.Pusher.Name) // forges keep people's own spelling
	known, in := j.o.Members.knows(person)
	if !known || !j.o.Pusher.Login {
		return nil // the signers are judged
	}
	if !in {
		return refused(gate.RuleRevokedDevice, "every device of whoever pushes was revoked at the team's hub")
	}
	if j.space.Name == hubwire.Personal && person != j.o.Members.owner {
		return refused(gate.RuleNoRight, "a personal space is its owner's alone")
	}
	if j.o.Policy == nil || j.o.Policy.Rules() == nil {
		return nil
	}
	r := j.o.Policy.Rules()
	if !r.May(person, j.space.Name, rules.Write) && !r.May(person, j.space.Name, rules.Redact) {
		return refused(gate.RuleNoRight, "the team's policy does not let whoever pushes write to this space")
	}
	return nil
}
