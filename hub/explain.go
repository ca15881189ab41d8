package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	repos, err := h.readable(at, by)
	if err != nil {
		return nil, err
	}
	var found []event.Event
	for _, r := range repos {
		list, err := r.Find(ctx, ref)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	if space != "" {
		found = slices.DeleteFunc(found, func(e event.Event) bool { return e.Space != space })
	}
	switch {
	case len(found) == 0:
		return nil, errNoEvent(space)
	case len(found) > 1:
		return nil, problem.New(problem.Usage, "several events fit that id; give all of it")
	}
	e := found[0]
	return append(at.memberSteps(e.Actor.Device, e.Space), at.Explain(at.personOf(e.Actor.Device), e)...), nil
}

// errNoEvent is said of what may as well have been meant for a device, if a
// space was given with it.
func errNoEvent(space string) error {
	p := &problem.Problem{Code: problem.NotFound, Message: "no space here has that event", Hint: "an event that the hub has refused is not here: \"cairn refused\" on its machine says why"}
	if space != "" {
		p.Message = "the space has no such event, and no device has that id"
		p.Hint += "; a device is named by its id, as \"cairn hub devices\" lists it"
	}
	return p
}

func (h *Hub) readable(at pass, by admin.Caller) ([]*repository.Repository, error) {
	names, err := h.spaces.Names()
	if err != nil {
		return nil, err
	}
	var repos []*repository.Repository
	for _, name := range names {
		if by.Person != "" && !at.role(by.Person, name).Allows(devices.Read) {
			continue
		}
		r, err := h.spaces.Shared(name)
		if err != nil {
			return nil, err
		}
		repos = append(repos, r)
	}
	if by.Person == "" {
		return repos, nil
	}
	own, err := h.spaces.PersonalIfMade(by.Person)
	if errors.Is(err, repository.ErrNoSpace) {
		return repos, nil
	}
	return append(repos, own), err
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
