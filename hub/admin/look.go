package admin

import (
	"context"

	"cairn/hub/audit"
	"cairn/internal/problem"
)

// Everyone lists members, devices and open invites.
func (a *Admin) Everyone(context.Context) (Everyone, error) {
	m, err := a.Members.Now()
	if err != nil {
		return Everyone{}, asProblem(err)
	}
	e := Everyone{People: []PersonInfo{}, Devices: []DeviceInfo{}, Invites: []InviteInfo{}}
	for _, p := range m.People() {
		e.People = append(e.People, PersonInfo{Name: p.Name, Admin: m.IsAdmin(p.Name), Rights: p.Rights, Revoked: p.Revoked})
	}
	for _, d := range m.Devices() {
		e.Devices = append(e.Devices, infoOf(d))
	}
	for _, i := range m.Invites() {
		if i.Open(a.Now()) {
			e.Invites = append(e.Invites, InviteInfo{Person: i.Person, Spaces: i.Spaces, Expires: i.Expires})
		}
	}
	return e, nil
}

// ListSpaces looks at every shared space.
func (a *Admin) ListSpaces(ctx context.Context) (SpaceList, error) {
	names, err := a.Spaces.Names()
	if err != nil {
		return SpaceList{}, err
	}
	list := SpaceList{Spaces: []SpaceState{}}
	for _, name := range names {
		list.Spaces = append(list.Spaces, a.state(ctx, name))
	}
	return list, nil
}

// state is one space; that it is damaged is part of the answer.
func (a *Admin) state(ctx context.Context, name string) SpaceState {
	s := SpaceState{Name: name}
	repo, err := a.Spaces.Shared(name)
	if err == nil {
		s.ID = repo.Space().ID
		s.Head, s.Events, err = repo.Count(ctx)
	}
	if err != nil {
		s.Problem = problem.Of(err).Message
	}
	return s
}

// Status counts what there is.
func (a *Admin) Status(ctx context.Context) (Status, error) {
	all, err := a.Everyone(ctx)
	if err != nil {
		return Status{}, err
	}
	list, err := a.ListSpaces(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Hub: a.Hub, HostKey: a.HostKey, Invites: len(all.Invites), Spaces: list.Spaces}
	if a.AuditEvents != nil {
		events := a.AuditEvents(ctx)
		s.AuditEvents = &events
	}
	for _, p := range all.People {
		if p.Revoked == nil {
			s.People++
		}
	}
	for _, d := range all.Devices {
		if d.Revoked == nil {
			s.Devices++
		} else {
			s.Revoked++
		}
	}
	return s, nil
}

// Records reads the audit log.
func (a *Admin) Records(_ context.Context, f audit.Filter) (Records, error) {
	page, err := a.Audit.Read(f)
	return Records{page}, err
}
