package devices

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"time"

	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
)

// How long an invite may live.
const (
	DefaultTTL = 24 * time.Hour
	MinTTL     = time.Minute
	MaxTTL     = 30 * 24 * time.Hour
)

// keepInvites is how long a spent invite is remembered, to say why it is
// refused.
const keepInvites = 30 * 24 * time.Hour

// Invite lets whoever holds the private half of key enrol one device for
// person until now+ttl. With the enrolment the person gets role in each of the
// spaces, or in AllSpaces when an admin is invited to none. Errors: *FormError.
func (m *Members) Invite(key ed25519.PublicKey, person string, spaces []string, role Role, now time.Time, ttl time.Duration) error {
	if err := checkInvite(person, role, ttl); err != nil {
		return err
	}
	granted := map[string]Role{}
	for _, s := range spaces {
		if err := checkSpace(s); err != nil {
			return err
		}
		granted[s] = role
	}
	if role == Admin && len(granted) == 0 {
		granted[AllSpaces] = Admin
	}
	m.dropOldInvites(now)
	m.invites = put(m.invites, event.DeviceOf(key), Invite{
		Key: key, Person: person, Spaces: granted,
		Created: event.NewTime(now), Expires: event.NewTime(now.Add(ttl)),
	})
	return nil
}

func checkInvite(person string, role Role, ttl time.Duration) error {
	if !invite.ValidPerson(person) {
		return &FormError{What: "person", Reason: "must be lower-case letters, digits and dashes, at most 39"}
	}
	// Revoke takes both; a name must not look like a device.
	if _, err := event.ParseDeviceID(person); err == nil {
		return &FormError{What: "person", Reason: "must not look like a device id"}
	}
	if role == None {
		return &FormError{What: "role", Reason: "of an invite must be read, write or admin"}
	}
	if ttl < MinTTL || ttl > MaxTTL {
		return &FormError{What: "expiry", Reason: fmt.Sprintf("must lie between %s and %s", MinTTL, MaxTTL)}
	}
	return nil
}

func checkSpace(space string) error {
	switch {
	case space == hubwire.Audit:
		return &FormError{What: "space", Reason: "must not be " + hubwire.Audit + ": the hub alone writes there, and every admin reads it"}
	case space == AllSpaces, event.ValidSpaceName(space) && space != hubwire.Personal:
		return nil
	}
	return &FormError{What: "space", Reason: "must be the name of a shared space"}
}

func (m *Members) dropOldInvites(now time.Time) {
	maps.DeleteFunc(m.invites, func(_ event.DeviceID, i Invite) bool { return now.Sub(i.Expires.Time) > keepInvites })
}

// Enrol makes deviceKey a device of the invite's person and hands them the
// invite's rights; rights they have already are never lowered. An invite works
// once; asking again with the same device, as after a lost answer, gives the
// same result. Errors: *InviteError, ErrRevoked, ErrTaken, ErrInviteKey.
func (m *Members) Enrol(inviteKey, deviceKey ed25519.PublicKey, name string, now time.Time) (Device, error) {
	inv := m.Lookup(inviteKey).Invite
	if inv == nil {
		return Device{}, &InviteError{Reason: "is not known to this hub"}
	}
	id := event.DeviceOf(deviceKey)
	if err := inv.usable(id, now); err != nil {
		return Device{}, err
	}
	d, known := m.devices[id]
	_, isInvite := m.invites[id]
	switch {
	case isInvite:
		return Device{}, ErrInviteKey
	case known && d.Person != inv.Person:
		return Device{}, ErrTaken
	case known && d.Revoked != nil:
		return Device{}, ErrRevoked
	case inv.UsedBy == id:
		return d, nil
	case known:
		d.Renews = "" // an invite vouches for it now
	default:
		d = Device{ID: id, Person: inv.Person, Name: name, Key: deviceKey, Enrolled: event.NewTime(now)}
	}
	m.devices = put(m.devices, id, d)
	m.welcome(*inv, now)
	inv.UsedBy = id
	m.invites = put(m.invites, event.DeviceOf(inviteKey), *inv)
	return d, nil
}

func (i Invite) usable(by event.DeviceID, now time.Time) error {
	switch {
	case i.Canceled:
		return &InviteError{Reason: "was canceled"}
	case i.UsedBy != "" && i.UsedBy == by:
		return nil
	case i.UsedBy != "":
		return &InviteError{Reason: "was used by another device"}
	case now.After(i.Expires.Time):
		return &InviteError{Reason: "has expired"}
	}
	return nil
}

// Open says whether the invite still waits for its machine.
func (i Invite) Open(now time.Time) bool { return i.UsedBy == "" && i.usable("", now) == nil }

func (m *Members) welcome(inv Invite, now time.Time) {
	member, ok := m.members[inv.Person]
	if !ok {
		member = Member{Name: inv.Person, Joined: event.NewTime(now)}
	}
	member.Revoked = nil
	for space, role := range inv.Spaces {
		if !member.Rights[space].Allows(role) {
			member.Rights = put(member.Rights, space, role)
		}
	}
	m.members = put(m.members, inv.Person, member)
}

// Grant gives person the role in the space, or in AllSpaces, in place of any
// they had there; None takes it away. Errors: ErrNoPerson, *FormError.
func (m *Members) Grant(person, space string, role Role) error {
	if err := checkSpace(space); err != nil {
		return err
	}
	member, ok := m.members[person]
	if !ok || member.Revoked != nil {
		return ErrNoPerson
	}
	if role == None {
		delete(member.Rights, space)
	} else {
		member.Rights = put(member.Rights, space, role)
	}
	m.members = put(m.members, person, member)
	return nil
}

// Revoke shuts out a device, by its id, with all that were enrolled by its key
// in the end, since whoever had the key had theirs made; or a person with all their devices,
// rights and open invites; somebody who has not come yet has only these. It
// returns the devices that were still let in.
// Errors: ErrNoDevice, ErrNoPerson.
func (m *Members) Revoke(who string, now time.Time) ([]Device, error) {
	if id, err := event.ParseDeviceID(who); err == nil {
		d, ok := m.devices[id]
		if !ok {
			return nil, ErrNoDevice
		}
		return m.revokeDevices(m.family(d), now), nil
	}
	awaited := m.cancelInvites(who, now)
	member, ok := m.members[who]
	if !ok && awaited {
		return nil, nil
	}
	if !ok {
		return nil, ErrNoPerson
	}
	at := event.NewTime(now)
	member.Revoked, member.Rights = &at, nil
	m.members = put(m.members, who, member)
	var theirs []Device
	for _, d := range m.Devices() {
		if d.Person == who {
			theirs = append(theirs, d)
		}
	}
	return m.revokeDevices(theirs, now), nil
}

func (m *Members) revokeDevices(list []Device, now time.Time) []Device {
	var shut []Device
	at := event.NewTime(now)
	for _, d := range list {
		if d.Revoked != nil {
			continue
		}
		d.Revoked = &at
		m.devices = put(m.devices, d.ID, d)
		shut = append(shut, d)
	}
	return shut
}

// cancelInvites says whether one of them was open.
func (m *Members) cancelInvites(person string, now time.Time) (open bool) {
	for id, i := range m.invites {
		if i.Person == person {
			open = open || i.Open(now)
			i.Canceled = true
			m.invites[id] = i
		}
	}
	return open
}

func put[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[k] = v
	return m
}
