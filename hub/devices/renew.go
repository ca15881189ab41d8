package devices

import (
	"crypto/ed25519"
	"time"

	"cairn/internal/event"
)

// maxRenewals is how many live devices the key of one may enrol. A machine
// needs one for each of its copies.
const maxRenewals = 32

// Renew makes key a device beside the device old, of the same person and with
// the same name. The old one stays what it is: another copy of the machine may
// go on with it. Asking again with the same key gives the same result.
// Errors: ErrNoDevice, ErrRevoked, ErrTaken, ErrInviteKey, ErrRenewals.
func (m *Members) Renew(old event.DeviceID, key ed25519.PublicKey, now time.Time) (Device, error) {
	from, ok := m.devices[old]
	switch {
	case !ok:
		return Device{}, ErrNoDevice
	case from.Revoked != nil:
		return Device{}, ErrRevoked
	}
	id := event.DeviceOf(key)
	d, known := m.devices[id]
	_, isInvite := m.invites[id]
	switch {
	case isInvite:
		return Device{}, ErrInviteKey
	case known && d.Renews != old:
		return Device{}, ErrTaken
	case known && d.Revoked != nil:
		return Device{}, ErrRevoked
	case known:
		return d, nil
	case m.renewals(old) >= maxRenewals:
		return Device{}, ErrRenewals
	}
	d = Device{ID: id, Person: from.Person, Name: from.Name, Key: key, Enrolled: event.NewTime(now), Renews: old}
	m.devices = put(m.devices, id, d)
	return d, nil
}

func (m *Members) renewals(old event.DeviceID) (n int) {
	for _, d := range m.devices {
		if d.Renews == old && d.Revoked == nil {
			n++
		}
	}
	return n
}

// Origin is the device that came with an invite and enrolled the device, by way
// of others it may be; the device itself if that came with one.
func (m *Members) Origin(id event.DeviceID) event.DeviceID {
	for range m.devices {
		d, ok := m.devices[id]
		if !ok || d.Renews == "" {
			return id
		}
		id = d.Renews
	}
	return id
}

// family is a device and all that were enrolled by its key, or by theirs.
func (m *Members) family(of Device) []Device {
	list := []Device{of}
	for i := 0; i < len(list); i++ {
		for _, d := range m.Devices() {
			if d.Renews == list[i].ID {
				list = append(list, d)
			}
		}
	}
	return list
}
