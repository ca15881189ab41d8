package hub

import (
	"errors"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/gate"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/intake"
)

// pusher is how a push of the caller's to the space is judged.
func (h *Hub) pusher(who caller, space string) repository.Pusher {
	return repository.Pusher{
		Device: who.ID, Person: who.Person, Raw: h.gate().Raw,
		Judge: func() (func(event.Event) []intake.Finding, error) { return h.admission(who, space) },
	}
}

func (h *Hub) gate() gate.Gate { return gate.Gate{Policy: h.policy, Also: h.decide} }

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
	return gate.Admission{Origin: gate.Members(m, space, who.Person), Now: h.now(), Decide: h.gate().Event}.Admit, nil
}

// refusedPush records a push that got no further than its space.
func (h *Hub) refusedPush(who caller, space string, err error) error {
	r := audit.Record{
		Person: who.Person, Device: who.ID, Addr: who.addr, Action: "push", Space: space,
		Verdict: audit.Refused, Rules: []string{string(problem.Of(err).Code)},
	}
	h.meter.pushed(space, repository.Outcome{Rules: r.Rules}, r.Verdict)
	return errors.Join(err, h.audit.Append(r))
}
