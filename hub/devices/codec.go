package devices

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cairn/internal/event"
	"cairn/internal/invite"
)

// format is the version of the member list that this package writes.
const format = 1

type file struct {
	Format  int      `json:"format"`
	Members []Member `json:"members"`
	Devices []Device `json:"devices"`
	Invites []Invite `json:"invites"`
}

// decode takes no list that it does not understand whole: a member it
// overlooked would be one that is let in, or shut out, by mistake.
func decode(b []byte) (*Members, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list")
	}
	if f.Format != format {
		return nil, fmt.Errorf("it has format %d and this program knows %d", f.Format, format)
	}
	m := &Members{members: map[string]Member{}, devices: map[event.DeviceID]Device{}, invites: map[event.DeviceID]Invite{}}
	return m, errors.Join(m.addMembers(f.Members), m.addDevices(f.Devices), m.addInvites(f.Invites))
}

func (m *Members) addMembers(list []Member) error {
	for _, member := range list {
		if _, twice := m.members[member.Name]; twice || !invite.ValidPerson(member.Name) {
			return fmt.Errorf("member %q is listed twice or has no valid name", member.Name)
		}
		if err := checkRoles(member.Rights); err != nil {
			return fmt.Errorf("member %s: %w", member.Name, err)
		}
		m.members[member.Name] = member
	}
	return nil
}

func (m *Members) addDevices(list []Device) error {
	for _, d := range list {
		if _, twice := m.devices[d.ID]; twice || len(d.Key) != ed25519.PublicKeySize || event.DeviceOf(d.Key) != d.ID {
			return fmt.Errorf("device %q is listed twice or does not fit its key", d.ID)
		}
		if _, ok := m.members[d.Person]; !ok {
			return fmt.Errorf("device %s belongs to nobody", d.ID)
		}
		m.devices[d.ID] = d
	}
	return nil
}

func (m *Members) addInvites(list []Invite) error {
	for _, i := range list {
		if len(i.Key) != ed25519.PublicKeySize || !invite.ValidPerson(i.Person) {
			return errors.New("an invite has no key or no person")
		}
		if err := checkRoles(i.Spaces); err != nil {
			return fmt.Errorf("an invite for %s: %w", i.Person, err)
		}
		m.invites[event.DeviceOf(i.Key)] = i
	}
	return nil
}

func checkRoles(rights map[string]Role) error {
	for space, role := range rights {
		if r, err := ParseRole(string(role)); err != nil || r == None {
			return fmt.Errorf("%q is no role", role)
		}
		if err := checkSpace(space); err != nil {
			return err
		}
	}
	return nil
}
