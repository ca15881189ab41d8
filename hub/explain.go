package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cairn/hub/admin"
	"cairn/hub/devices"
	"cairn/hub/repository"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy/rules"
)

// explain says why an event is taken or refused, or what a device may do in a
// space: as members, and by the policy in force. Words are an event, alone or
// with its space, or a device and a space.
func (h *Hub) explain(ctx context.Context, by admin.Caller, words []string) ([]hubwire.PolicyStep, error) {
	at, err := h.pass()
	if err != nil {
		return nil, err
	}
	var steps []rules.Step
	switch len(words) {
	case 1:
		steps, err = h.explainEvent(ctx, at, by, words[0], "")
	case 2:
		steps, err = h.explainIn(ctx, at, by, words[0], words[1])
	default:
		err = problem.New(problem.Usage, "what is to be explained is an event, or a device or event and a space")
	}
	var out []hubwire.PolicyStep
	for _, s := range steps {
		out = append(out, hubwire.PolicyStep(s))
	}
	return out, err
}

// explainIn explains a device or an event in a space. No word is both: the id of
// a device has no digit 0, with which that of an event begins.
func (h *Hub) explainIn(ctx context.Context, at pass, by admin.Caller, word, space string) ([]rules.Step, error) {
	if !event.ValidSpaceName(space) {
		return nil, problem.New(problem.Usage, "the second word is the name of a space")
	}
	if id, err := event.ParseDeviceID(word); err == nil {
		return at.explainDevice(by, id, space)
	}
	return h.explainEvent(ctx, at, by, word, space)
}

// explainEvent looks the event up in every space that the caller may read, or
// in the one that is named.
func (h *Hub) explainEvent(ctx context.Context, at pass, by admin.Caller, ref, space string) ([]rules.Step, error) {
	var found []event.Event
	var damaged []string
	var err error
	if space != "" {
		found, err = h.findIn(ctx, at, by, ref, space)
	} else {
		found, damaged, err = h.findAnywhere(ctx, at, by, ref)
	}
	switch {
	case errors.Is(err, repository.ErrNoSpace), err == nil && len(found) == 0:
		return nil, errNoEvent(space, damaged)
	case err != nil:
		return nil, err
	case len(found) > 1:
		return nil, problem.New(problem.Usage, "several events fit that id; give all of it")
	}
	e := found[0]
	return append(at.memberSteps(e.Actor.Device, e.Space), at.Explain(at.personOf(e.Actor.Device), e)...), nil
}

// errNoEvent is said of what may as well have been meant for a device, if a
// space was given with it.
func errNoEvent(space string, damaged []string) error {
	p := &problem.Problem{Code: problem.NotFound, Message: "no space here has that event", Hint: "an event that the hub has refused is not here: \"cairn refused\" on its machine says why"}
	if space != "" {
		p.Message = "the space has no such event, and no device has that id"
		p.Hint += "; a device is named by its id, as \"cairn hub devices\" lists it"
	}
	if len(damaged) > 0 {
		p.Message += "; damaged, and so not looked through: " + strings.Join(damaged, ", ")
	}
	return p
}

// findAnywhere looks in every space that the caller may read. One that is damaged
// does not keep the others from being looked in.
func (h *Hub) findAnywhere(ctx context.Context, at pass, by admin.Caller, ref string) (found []event.Event, damaged []string, err error) {
	names, err := h.spaces.Names()
	for _, name := range append(names, hubwire.Personal) {
		list, ferr := h.findIn(ctx, at, by, ref, name)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(ferr, repository.ErrNoSpace):
			continue
		case ferr != nil:
			h.log.Error("look through a space", "space", name, "err", ferr)
			damaged = append(damaged, name)
		}
		found = append(found, list...)
	}
	return found, damaged, err
}

// findIn looks in one space. The error is repository.ErrNoSpace if the caller may
// not read it, or there is none.
func (h *Hub) findIn(ctx context.Context, at pass, by admin.Caller, ref, space string) ([]event.Event, error) {
	r, err := h.readable(at, by, space)
	if err != nil {
		return nil, err
	}
	return r.Find(ctx, ref)
}

// readable is the space as the caller means it. Whoever sits at the hub has none
// of their own.
func (h *Hub) readable(at pass, by admin.Caller, space string) (*repository.Repository, error) {
	switch {
	case space == hubwire.Personal:
		return h.spaces.PersonalIfMade(by.Person)
	case by.Person != "" && !at.role(by.Person, space).Allows(devices.Read):
		return nil, repository.ErrNoSpace
	}
	return h.spaces.Shared(space)
}

// memberSteps is what the member list says of a device and a space.
func (p pass) memberSteps(id event.DeviceID, space string) []rules.Step {
	d, ok := p.Device(id)
	s := rules.Step{Rule: "member", Verdict: rules.Refuses}
	switch {
	case !ok:
		s.Detail = "the device is not enrolled at this hub"
	case d.Revoked != nil:
		s.Detail = "the device was revoked"
	default:
		role := p.Members.Role(d.Person, space)
		s.Detail = fmt.Sprintf("%s has no right in the space", d.Person)
		if role != devices.None {
			s.Verdict, s.Detail = rules.Allows, fmt.Sprintf("%s has the right %s in the space", d.Person, role)
		}
	}
	return []rules.Step{s}
}

func (p pass) explainDevice(by admin.Caller, id event.DeviceID, space string) ([]rules.Step, error) {
	person := p.personOf(id)
	if by.Person != "" && by.Person != person && !p.IsAdmin(by.Person) {
		return nil, &problem.Problem{Code: problem.HubRefused, Message: "whose device that is, is for admins to know", Hint: "ask one of them"}
	}
	steps := p.memberSteps(id, space)
	if r := p.Rules(); r != nil && steps[0].Verdict == rules.Allows && space != hubwire.Personal && space != hubwire.Audit {
		steps = append(steps, within(p.Members.Role(person, space), r.ExplainPerson(person, space))...)
	}
	return steps, nil
}

// within turns what a policy leaves to somebody into a refusal where they have
// not that right as a member: a policy gives none.
func within(role devices.Role, steps []rules.Step) []rules.Step {
	needs := map[string]devices.Role{
		string(rules.Read): devices.Read, string(rules.Write): devices.Write, string(rules.Redact): devices.Write, string(rules.Admin): devices.Admin,
	}
	for i, s := range steps {
		if s.Verdict == rules.Allows && !role.Allows(needs[s.Rule]) {
			steps[i].Verdict = rules.Refuses
			steps[i].Detail = fmt.Sprintf("as a member they have only the right %s; %s", role, s.Detail)
		}
	}
	return steps
}
