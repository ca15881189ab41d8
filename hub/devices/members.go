package devices

import (
	"cmp"
	"crypto/ed25519"
	"maps"
	"slices"

	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// A Member is a person at the hub.
type Member struct {
	Name    string          `json:"name"`
	Joined  event.Time      `json:"joined"`
	Revoked *event.Time     `json:"revoked,omitempty"`
	Rights  map[string]Role `json:"rights"` // space, or AllSpaces
}

// A Device is a machine that a member enrolled.
type Device struct {
	ID       event.DeviceID    `json:"id"`
	Person   string            `json:"person"`
	Name     string            `json:"name"`
	Key      ed25519.PublicKey `json:"key"`
	Enrolled event.Time        `json:"enrolled"`
	Revoked  *event.Time       `json:"revoked,omitempty"`
	Renews   event.DeviceID    `json:"renews,omitempty"` // whose key enrolled it, if no invite's did
}

// An Invite waits for a machine. Its key is made from a seed that the hub
// does not keep.
type Invite struct {
	Key      ed25519.PublicKey `json:"key"`
	Person   string            `json:"person"`
	Spaces   map[string]Role   `json:"spaces"`
	Created  event.Time        `json:"created"`
	Expires  event.Time        `json:"expires"`
	UsedBy   event.DeviceID    `json:"used_by,omitempty"`
	Canceled bool              `json:"canceled,omitempty"`
}

// Members is everyone a hub knows, at one moment. The zero value is a hub
// without members. It is not safe for concurrent change; the values that a
// Store hands out are not changed any more.
type Members struct {
	members map[string]Member
	devices map[event.DeviceID]Device
	invites map[event.DeviceID]Invite // under the device id that the key would have
}

// An Identity is what a key means to the hub. At most one member is set; none
// is a stranger.
type Identity struct {
	Device *Device
	Invite *Invite
}

// Lookup says whose key it is. Revoked devices and used invites are found as
// well, so that they can be told why they are refused.
func (m *Members) Lookup(key ed25519.PublicKey) Identity {
	id := event.DeviceOf(key)
	if d, ok := m.devices[id]; ok && d.Key.Equal(key) {
		return Identity{Device: &d}
	}
	if i, ok := m.invites[id]; ok && i.Key.Equal(key) {
		return Identity{Invite: &i}
	}
	return Identity{}
}

// Device is the device with that id, revoked or not.
func (m *Members) Device(id event.DeviceID) (Device, bool) {
	d, ok := m.devices[id]
	return d, ok
}

// Devices lists every device, by person and then in the order of enrolment.
func (m *Members) Devices() []Device {
	return slices.SortedFunc(maps.Values(m.devices), func(a, b Device) int {
		return cmp.Or(cmp.Compare(a.Person, b.Person), a.Enrolled.Compare(b.Enrolled.Time), cmp.Compare(a.ID, b.ID))
	})
}

// People lists every member by name.
func (m *Members) People() []Member {
	return slices.SortedFunc(maps.Values(m.members), func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
}

// Invites lists every invite by its time.
func (m *Members) Invites() []Invite {
	return slices.SortedFunc(maps.Values(m.invites), func(a, b Invite) int {
		return cmp.Or(a.Created.Compare(b.Created.Time), slices.Compare(a.Key, b.Key))
	})
}

// Role is what person may do in the shared space; in hubwire.Personal it is
// what they may do in their own. In hubwire.Audit an admin reads, and nobody
// does more.
func (m *Members) Role(person, space string) Role {
	member, ok := m.members[person]
	switch {
	case !ok || member.Revoked != nil:
		return None
	case space == hubwire.Personal:
		return Write
	case space == hubwire.Audit && member.admin():
		return Read
	case space == hubwire.Audit:
		return None
	case member.admin():
		return Admin
	}
	if r, ok := member.Rights[space]; ok {
		return r
	}
	return member.Rights[AllSpaces]
}

// IsAdmin says whether person may run the hub's verbs.
func (m *Members) IsAdmin(person string) bool {
	member, ok := m.members[person]
	return ok && member.Revoked == nil && member.admin()
}

func (m Member) admin() bool {
	return slices.Contains(slices.Collect(maps.Values(m.Rights)), Admin)
}

func (m *Members) clone() *Members {
	c := &Members{members: maps.Clone(m.members), devices: maps.Clone(m.devices), invites: maps.Clone(m.invites)}
	for name, member := range c.members {
		member.Rights = maps.Clone(member.Rights)
		c.members[name] = member
	}
	return c
}
