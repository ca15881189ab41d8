package devices_test

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"cairn/hub/devices"
	"cairn/internal/event/eventtest"
	"cairn/internal/hubwire"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func public(name string) ed25519.PublicKey { return eventtest.Key(name).Public().(ed25519.PublicKey) }

func invited(t *testing.T, m *devices.Members, key, person string, role devices.Role, spaces ...string) {
	t.Helper()
	if err := m.Invite(public(key), person, spaces, role, now, devices.DefaultTTL); err != nil {
		t.Fatal(err)
	}
}

func enrolled(t *testing.T, m *devices.Members, key, device string) devices.Device {
	t.Helper()
	d, err := m.Enrol(public(key), public(device), device, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// inviteReason is why an invite was refused, or the error as it is.
func inviteReason(err error) string {
	if e, ok := errors.AsType[*devices.InviteError](err); ok {
		return e.Reason
	}
	return "error: " + errString(err)
}

func errString(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

func TestAnInvitedMachineBecomesADevice(t *testing.T) {
	var m devices.Members
	if id := m.Lookup(public("laptop")); id.Device != nil || id.Invite != nil {
		t.Fatal("a stranger is known")
	}
	invited(t, &m, "invite", "ana", devices.Write, "team")
	if id := m.Lookup(public("invite")); id.Invite == nil || id.Invite.Person != "ana" {
		t.Fatalf("the invite's key is %+v", id)
	}
	if m.Role("ana", "team") != devices.None || m.Role("ana", hubwire.Personal) != devices.None {
		t.Error("an invite that nobody used gives a right")
	}
	d := enrolled(t, &m, "invite", "laptop")
	if d.ID != eventtest.Device("laptop") || d.Person != "ana" {
		t.Fatalf("enrolled %+v", d)
	}
	if id := m.Lookup(public("laptop")); id.Device == nil || id.Device.ID != d.ID {
		t.Fatalf("the device's key is %+v", id)
	}
	for space, want := range map[string]devices.Role{"team": devices.Write, "other": devices.None, hubwire.Personal: devices.Write} {
		if got := m.Role("ana", space); got != want {
			t.Errorf("role in %s is %q, want %q", space, got, want)
		}
	}
}

func TestAnInviteWorksOnce(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Read, "team")
	first := enrolled(t, &m, "invite", "laptop")
	if again := enrolled(t, &m, "invite", "laptop"); again.ID != first.ID {
		t.Errorf("asking again after a lost answer gives %+v", again)
	}
	_, err := m.Enrol(public("invite"), public("thief"), "thief", now)
	if got := inviteReason(err); got != "was used by another device" {
		t.Errorf("a second device: %s", got)
	}
	if len(m.Devices()) != 1 {
		t.Errorf("%d devices", len(m.Devices()))
	}
}

func TestInvitesThatOpenNothing(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Read, "team")
	_, err := m.Enrol(public("invite"), public("laptop"), "laptop", now.Add(devices.DefaultTTL+time.Second))
	if got := inviteReason(err); got != "has expired" {
		t.Errorf("too late: %s", got)
	}
	_, err = m.Enrol(public("never made"), public("laptop"), "laptop", now)
	if got := inviteReason(err); got != "is not known to this hub" {
		t.Errorf("of another hub: %s", got)
	}
	invited(t, &m, "first", "bo", devices.Read, "team")
	enrolled(t, &m, "first", "bo's")
	invited(t, &m, "second", "bo", devices.Read, "team")
	if _, err := m.Revoke("bo", now); err != nil {
		t.Fatal(err)
	}
	_, err = m.Enrol(public("second"), public("another"), "another", now)
	if got := inviteReason(err); got != "was canceled" {
		t.Errorf("after the person was revoked: %s", got)
	}
}

func TestADeviceBelongsToOnePerson(t *testing.T) {
	var m devices.Members
	invited(t, &m, "for ana", "ana", devices.Read, "team")
	enrolled(t, &m, "for ana", "laptop")
	invited(t, &m, "for bo", "bo", devices.Read, "team")
	if _, err := m.Enrol(public("for bo"), public("laptop"), "laptop", now); !errors.Is(err, devices.ErrTaken) {
		t.Errorf("got %v", err)
	}
}

// Whoever saw an invite has its key, which must never be more than that.
func TestTheKeyOfAnInviteIsNoDevice(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Write, "team")
	invited(t, &m, "another", "bo", devices.Read, "team")
	for _, key := range []string{"invite", "another"} {
		if _, err := m.Enrol(public("invite"), public(key), "laptop", now); !errors.Is(err, devices.ErrInviteKey) {
			t.Errorf("with the key %s: %v", key, err)
		}
		if id := m.Lookup(public(key)); id.Device != nil {
			t.Errorf("the key %s is a device", key)
		}
	}
	enrolled(t, &m, "invite", "laptop")
}

func TestARevokedKeyNeverComesBack(t *testing.T) {
	var m devices.Members
	invited(t, &m, "one", "ana", devices.Write, "team")
	laptop := enrolled(t, &m, "one", "laptop")
	invited(t, &m, "two", "ana", devices.Write, "team")
	enrolled(t, &m, "two", "desktop")

	shut, err := m.Revoke(string(laptop.ID), now)
	if err != nil || len(shut) != 1 || shut[0].ID != laptop.ID {
		t.Fatalf("shut %+v, %v", shut, err)
	}
	if d := m.Lookup(public("laptop")).Device; d == nil || d.Revoked == nil {
		t.Fatalf("the revoked device is %+v", d)
	}
	if d := m.Lookup(public("desktop")).Device; d == nil || d.Revoked != nil {
		t.Fatalf("the other device is %+v", d)
	}
	if m.Role("ana", "team") != devices.Write {
		t.Error("the person lost a right with one device")
	}
	invited(t, &m, "three", "ana", devices.Write, "team")
	if _, err := m.Enrol(public("three"), public("laptop"), "laptop", now); !errors.Is(err, devices.ErrRevoked) {
		t.Errorf("enrolling it again: %v", err)
	}
	if shut, err := m.Revoke(string(laptop.ID), now); err != nil || len(shut) != 0 {
		t.Errorf("revoked twice: %+v, %v", shut, err)
	}
}

func TestRevokingAPersonShutsAllTheirDevices(t *testing.T) {
	var m devices.Members
	for _, d := range []string{"laptop", "desktop"} {
		invited(t, &m, "for "+d, "ana", devices.Admin, "team")
		enrolled(t, &m, "for "+d, d)
	}
	shut, err := m.Revoke("ana", now)
	if err != nil || len(shut) != 2 {
		t.Fatalf("shut %+v, %v", shut, err)
	}
	if m.IsAdmin("ana") || m.Role("ana", "team") != devices.None || m.Role("ana", hubwire.Personal) != devices.None {
		t.Error("a right is left")
	}
	invited(t, &m, "again", "ana", devices.Read, "team")
	enrolled(t, &m, "again", "new laptop")
	if m.Role("ana", "team") != devices.Read || m.IsAdmin("ana") {
		t.Error("a new invite brought the old rights back")
	}
	invited(t, &m, "to a stranger", "bo", devices.Read, "team")
	if _, err := m.Revoke("bo", now); err != nil {
		t.Errorf("somebody awaited: %v", err)
	}
	if _, err := m.Enrol(public("to a stranger"), public("theirs"), "theirs", now); err == nil {
		t.Error("a withdrawn invite was taken")
	}
	if _, err := m.Revoke("nobody", now); !errors.Is(err, devices.ErrNoPerson) {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := m.Revoke(string(eventtest.Device("nobody")), now); !errors.Is(err, devices.ErrNoDevice) {
		t.Errorf("a strange device: %v", err)
	}
}

func TestAnAdminHasEveryRightInSharedSpaces(t *testing.T) {
	var m devices.Members
	invited(t, &m, "boss", "ana", devices.Admin)
	enrolled(t, &m, "boss", "laptop")
	if !m.IsAdmin("ana") || m.Role("ana", "any") != devices.Admin {
		t.Error("the first admin is none")
	}
	if got := m.Role("ana", hubwire.Personal); got != devices.Write {
		t.Errorf("in their own space: %q", got)
	}
	if err := m.Grant("ana", devices.AllSpaces, devices.None); err != nil {
		t.Fatal(err)
	}
	if m.IsAdmin("ana") || m.Role("ana", "any") != devices.None {
		t.Error("the right cannot be taken away")
	}
}

func TestGrantReplacesARoleAndAnInviteNeverLowersOne(t *testing.T) {
	var m devices.Members
	invited(t, &m, "one", "ana", devices.Write, "team")
	enrolled(t, &m, "one", "laptop")
	invited(t, &m, "two", "ana", devices.Read, "team", "docs")
	enrolled(t, &m, "two", "desktop")
	if m.Role("ana", "team") != devices.Write || m.Role("ana", "docs") != devices.Read {
		t.Errorf("after a smaller invite: team %q, docs %q", m.Role("ana", "team"), m.Role("ana", "docs"))
	}
	if err := m.Grant("ana", "team", devices.Read); err != nil || m.Role("ana", "team") != devices.Read {
		t.Errorf("after a smaller grant: %q, %v", m.Role("ana", "team"), err)
	}
	if err := m.Grant("nobody", "team", devices.Read); !errors.Is(err, devices.ErrNoPerson) {
		t.Errorf("to a stranger: %v", err)
	}
}

func TestFormsThatAreRefused(t *testing.T) {
	var m devices.Members
	key, day := public("k"), devices.DefaultTTL
	for name, err := range map[string]error{
		"person with a slash":       m.Invite(key, "../ana", nil, devices.Read, now, day),
		"person like a device":      m.Invite(key, string(eventtest.Device("laptop")), nil, devices.Read, now, day),
		"no role":                   m.Invite(key, "ana", []string{"team"}, devices.None, now, day),
		"unknown role in a grant":   func() error { _, err := devices.ParseRole("owner"); return err }(),
		"space with a slash":        m.Invite(key, "ana", []string{"a/b"}, devices.Read, now, day),
		"another's personal space":  m.Invite(key, "ana", []string{hubwire.Personal}, devices.Read, now, day),
		"no time":                   m.Invite(key, "ana", nil, devices.Read, now, 0),
		"a year":                    m.Invite(key, "ana", nil, devices.Read, now, 365*day),
		"grant in a personal space": m.Grant("ana", hubwire.Personal, devices.Read),
	} {
		if _, ok := errors.AsType[*devices.FormError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(m.Invites()) != 0 {
		t.Error("a refused invite was kept")
	}
}

func TestRolesIncludeThoseBefore(t *testing.T) {
	ladder := []devices.Role{devices.None, devices.Read, devices.Write, devices.Admin}
	for i, have := range ladder {
		for j, need := range ladder {
			if have.Allows(need) != (i >= j) {
				t.Errorf("%q allows %q: %v", have, need, have.Allows(need))
			}
		}
	}
	if devices.Role("root").Allows(devices.Read) {
		t.Error("an unknown role allows to read")
	}
}
