package hook

import (
	"cairn/hub/gate"
	"cairn/internal/event"
	"cairn/policy/roster"
)

// Members are the devices of a hub's people, by its signed list. It says
// nothing of rights: these are the policy's.
type Members struct {
	devices map[event.DeviceID]roster.Device
	people  map[string]bool // whether one of their devices is let in
	owner   string          // whose the space personal is
}

// NewMembers are those of a list; owner is whose space personal the repository
// is, if it is one.
func NewMembers(r roster.Roster, owner string) *Members {
	m := &Members{devices: map[event.DeviceID]roster.Device{}, people: map[string]bool{}, owner: owner}
	for _, d := range r.Devices {
		m.devices[d.ID] = d
		m.people[d.Person] = m.people[d.Person] || !d.Revoked
	}
	return m
}

// person is whose device it is; "" if that is not known. Nil members know
// nobody.
func (m *Members) person(id event.DeviceID) string {
	if m == nil {
		return ""
	}
	return m.devices[id].Person
}

// origin is for gate.Admission.
func (m *Members) origin(space string) func(event.DeviceID) (rule, hint string) {
	return gate.Standing{
		Space: space, Owner: m.owner,
		Device: func(id event.DeviceID) (person string, revoked, known bool) {
			d, known := m.devices[id]
			return d.Person, d.Revoked, known
		},
		Unknown: "the device that signed the event is not on the signed list of members that this server has: its operator can bring a newer one, then push again",
		Revoked: "the device that signed the event was revoked at the team's hub",
		NoRight: "a personal space takes its owner's events alone",
	}.Origin
}

// knows says whether a person is a member, and whether any of their devices is
// let in.
func (m *Members) knows(person string) (known, in bool) {
	if m == nil {
		return false, false
	}
	in, known = m.people[person]
	return known, in
}
