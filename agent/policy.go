package agent

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"cairn/agent/api"
	"cairn/agent/hubstate"
	"cairn/agent/members"
	"cairn/agent/teampolicy"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/scope"
	"cairn/sync/replica"
)

// policyOf is the policy of a space: the hub's, if it is synced with the hub.
func (a *Agent) policyOf(space string) *policy.Policy {
	if len(a.courier.Links(space, hubRemote)) == 0 {
		return a.team.BuiltIn()
	}
	return a.team.Policy()
}

// decide judges an event before it is saved.
func (a *Agent) decide(e event.Event) error { return a.policyOf(e.Space).Decide(e) }

// over says which events of a space the policy no longer keeps at a moment;
// nil if it keeps all of them.
func (a *Agent) over(space string, at time.Time) func(event.ID, event.Kind, event.Classification) bool {
	rules := a.policyOf(space).Rules()
	if rules == nil || rules.KeepsAll(space) {
		return nil
	}
	return func(id event.ID, kind event.Kind, class event.Classification) bool {
		if class == "" {
			class = scope.Default(space)
		}
		return rules.Over(event.Event{ID: id, Space: space, Kind: kind, Classification: class}, at)
	}
}

// mayWrite judges an event of this machine's own. The hub alone writes to its
// audit space.
func (a *Agent) mayWrite(e event.Event) error {
	if e.Space == hubwire.Audit && len(a.courier.Links(e.Space, hubRemote)) > 0 {
		return &problem.Problem{
			Code: problem.Policy, Rule: hubwire.RuleAudit, Field: "space",
			Message: "refused, nothing was saved: the space " + hubwire.Audit + " is what the hub itself records",
			Hint:    "save it in another space",
		}
	}
	return a.decide(e)
}

// isWelcome says whether an event was written by whom its space is for, as far as
// this machine knows: a space that belongs to the hub has members' events, and
// the audit space the hub's own, which have no place anywhere else. What the hub
// itself has of others, it has judged; any other repository could be written to
// by anybody.
func (a *Agent) isWelcome(hub bool, e event.Event) bool {
	switch {
	case a.isHubs(e):
		return e.Space == hubwire.Audit && e.Kind == event.KindAudit
	case hub || len(a.courier.Links(e.Space, hubRemote)) == 0:
		return true
	case e.Space == hubwire.Audit:
		return false
	}
	return a.members.Knows(e.Actor.Device)
}

// isHubs says whether an event is signed with the host key of the machine's hub.
func (a *Agent) isHubs(e event.Event) bool {
	a.mu.Lock()
	at := a.config.Hub
	a.mu.Unlock()
	if at == nil || e.Sig == nil {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(e.Sig.Key)
	return err == nil && hubwire.Fingerprint(key) == at.Fingerprint
}

// follow brings what the hub says is new.
func (a *Agent) follow(ctx context.Context, t hubwire.Told) error {
	hub := a.courier.Hub()
	a.mu.Lock()
	at := a.config.Hub
	a.mu.Unlock()
	if hub == nil || at == nil {
		return nil
	}
	known := hubstate.Hub{ID: event.ID(at.ID), Fingerprint: at.Fingerprint}
	if t.Roster > 0 {
		if err := a.members.Follow(ctx, members.Hub{Hub: known, Roster: hub.Roster}, t.Roster); err != nil {
			return err
		}
	}
	if t.Policy.Number == 0 {
		return nil
	}
	return a.followPolicy(ctx, hub, known, t.Policy)
}

// followPolicy brings the policy that the hub says is in force.
func (a *Agent) followPolicy(ctx context.Context, hub *replica.Hub, known hubstate.Hub, shown hubwire.PolicyMark) error {
	before := a.team.State()
	err := a.team.Follow(ctx, teampolicy.Hub{
		Hub: known,
		Since: func(ctx context.Context, n int) (hubwire.PolicyAnswer, error) {
			return hub.Policy(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicySince, Number: n})
		},
		File: func(ctx context.Context, n int) ([]byte, error) {
			a, err := hub.Policy(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicyShow, Number: n})
			return a.File, err
		},
		Return: func(ctx context.Context, version, file []byte) error {
			_, err := hub.Policy(ctx, hubwire.PolicyRequest{Verb: hubwire.PolicyReturn, Version: version, File: file})
			return err
		},
	}, shown)
	after := a.team.State()
	switch {
	case after.Number != before.Number:
		a.log.Info("the team's policy is in force", "version", after.Number, "before", before.Number)
	case after.Trouble != nil && before.Trouble == nil:
		a.log.Warn("the team's policy", "err", after.Trouble)
	}
	return err
}

// policyState is the policy as status shows it; nil without one.
func (a *Agent) policyState() *api.PolicyState {
	s := a.team.State()
	if s.Number == a.team.BuiltIn().Number() && s.Trouble == nil {
		return nil
	}
	out := &api.PolicyState{Number: s.Number, Team: s.Team}
	if !s.File.IsZero() {
		out.Hash = s.File.String()
	}
	if s.Trouble != nil {
		out.Problem = s.Trouble.Error()
	}
	return out
}

// members says whether the hub's list of devices is the one that counts here.
func (d *doctor) members() {
	if d.a.hubAddress() == "" {
		return
	}
	trouble := d.a.members.Trouble()
	d.add("members", "the list of devices is the hub's", trouble, followed(trouble, "ask the hub's operator whether it was restored from a backup, or has another key"))
}

// policy says which rules of a team are in force here.
func (d *doctor) policy() {
	s := d.a.team.State()
	detail := "the built-in rules: the team has written none"
	if s.Team != "" {
		detail = fmt.Sprintf("version %d of team %s, sha256 %s", s.Number, s.Team, s.File.Short())
	}
	d.add("policy", detail, s.Trouble, followed(s.Trouble, "ask the hub's operator whether it was restored from a backup: its folder policy has to be as new as this"))
}

// followed is what mends trouble with something that is followed at the hub:
// where what is kept here is damaged the hub brings it again.
func followed(trouble error, atHub string) string {
	if _, damaged := errors.AsType[*hubstate.DamagedError](trouble); damaged {
		return "cairn sync"
	}
	return atHub
}
