package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"cairn/hub/audit"
	"cairn/hub/devices"
	"cairn/hub/sshdoor"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

func (h *Hub) whoami(s *sshdoor.Session, who caller) error {
	at, err := h.pass()
	if err != nil {
		return err
	}
	list, err := h.spacesOf(at, who.Person)
	if err != nil {
		return err
	}
	rights := map[string]string{}
	for _, space := range list {
		rights[space.Name] = space.Role
	}
	return json.NewEncoder(s.Stream).Encode(hubwire.Whoami{
		Hub: h.id.Hub, Person: who.Person, Device: who.ID, Name: who.Name,
		Fingerprint: who.fingerprint, Admin: at.IsAdmin(who.Person), Rights: rights, Time: event.NewTime(h.now()),
	})
}

func (h *Hub) listSpaces(s *sshdoor.Session, who caller) error {
	at, err := h.pass()
	if err != nil {
		return err
	}
	list, err := h.spacesOf(at, who.Person)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.Stream).Encode(list)
}

// spacesOf lists what a person may read, their own space first. A space that
// is damaged is left out and does not keep the others from being used.
func (h *Hub) spacesOf(at pass, person string) ([]hubwire.SpaceInfo, error) {
	own, err := h.spaces.Personal(person, h.now())
	if err != nil {
		return nil, err
	}
	list := []hubwire.SpaceInfo{{Name: hubwire.Personal, ID: own.Space().ID, Role: string(devices.Write), Personal: true}}
	names, err := h.spaces.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		role := at.role(person, name)
		if !role.Allows(devices.Read) {
			continue
		}
		repo, err := h.spaces.Shared(name)
		if err != nil {
			h.log.Error("open a space", "space", name, "err", err)
			continue
		}
		list = append(list, hubwire.SpaceInfo{Name: name, ID: repo.Space().ID, Role: string(role)})
	}
	return list, nil
}

// maxEnrolment bounds an enrolment request.
const maxEnrolment = 64 << 10

// enrol makes the key in the request a device of the invite's person.
func (h *Hub) enrol(ctx context.Context, s *sshdoor.Session) error {
	var request hubwire.EnrolRequest
	if err := json.NewDecoder(io.LimitReader(s.Stream, maxEnrolment)).Decode(&request); err != nil {
		return asEnrolProblem(hubwire.ErrEnrolment)
	}
	key, err := request.Key(s.ID)
	if err != nil {
		return asEnrolProblem(err)
	}
	var d devices.Device
	var after *devices.Members
	err = h.members.Change(ctx, func(m *devices.Members) (err error) {
		after = m
		d, err = m.Enrol(s.Who.Invite.Key, key, request.Name, h.now())
		return err
	})
	err = asEnrolProblem(err)
	r := audit.Record{Person: s.Who.Invite.Person, Device: d.ID, Addr: s.Addr, Action: "enrol", Verdict: audit.Done}
	if err != nil {
		r.Verdict, r.Rules = audit.Refused, []string{string(problem.Of(err).Code)}
	}
	if err := errors.Join(err, h.audit.Append(r)); err != nil {
		return err
	}
	f, err := h.inForce()
	if err != nil {
		return err
	}
	list, err := h.spacesOf(pass{after, f}, d.Person)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.Stream).Encode(hubwire.Enrolled{Hub: h.id.Hub, Person: d.Person, Device: d.ID, Spaces: list})
}
