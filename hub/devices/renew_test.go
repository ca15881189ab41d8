package devices_test

import (
	"errors"
	"strconv"
	"testing"

	"cairn/hub/devices"
	"cairn/internal/event/eventtest"
)

// A machine that was copied gets a key of its own with the key it was copied
// with. Both are let in, and both are the same person's.
func TestADeviceEnrolsItsCopy(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Write, "team")
	laptop := enrolled(t, &m, "invite", "laptop")
	for range 2 { // an answer may be lost
		d, err := m.Renew(laptop.ID, public("copy"), now)
		if err != nil || d.Person != "ana" || d.Name != "laptop" || d.Renews != laptop.ID {
			t.Fatalf("renewed: %+v, %v", d, err)
		}
	}
	for _, name := range []string{"laptop", "copy"} {
		if d := m.Lookup(public(name)).Device; d == nil || d.Revoked != nil {
			t.Errorf("%s is %+v", name, d)
		}
	}
	if len(m.Devices()) != 2 {
		t.Errorf("%d devices", len(m.Devices()))
	}
}

func TestRenewalsThatAreRefused(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Write, "team")
	invited(t, &m, "for bo", "bo", devices.Write, "team")
	invited(t, &m, "open", "cy", devices.Read, "team")
	laptop, bos := enrolled(t, &m, "invite", "laptop"), enrolled(t, &m, "for bo", "bo's")
	for name, want := range map[string]error{"bo's": devices.ErrTaken, "laptop": devices.ErrTaken, "open": devices.ErrInviteKey} {
		if _, err := m.Renew(laptop.ID, public(name), now); !errors.Is(err, want) {
			t.Errorf("with the key %s: %v", name, err)
		}
	}
	if _, err := m.Renew(eventtest.Device("stranger"), public("new"), now); !errors.Is(err, devices.ErrNoDevice) {
		t.Errorf("of a stranger: %v", err)
	}
	if _, err := m.Revoke(string(bos.ID), now); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Renew(bos.ID, public("new"), now); !errors.Is(err, devices.ErrRevoked) {
		t.Errorf("of a revoked one: %v", err)
	}
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		_, err = m.Renew(laptop.ID, public("copy"+strconv.Itoa(n)), now)
	}
	if !errors.Is(err, devices.ErrRenewals) {
		t.Errorf("after %d: %v", n, err)
	}
}

// Whoever stole a key may have used it to get others.
func TestRevokingADeviceShutsWhatItEnrolled(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Write, "team")
	invited(t, &m, "another", "ana", devices.Write, "team")
	laptop := enrolled(t, &m, "invite", "laptop")
	enrolled(t, &m, "another", "desktop")
	first, err := m.Renew(laptop.ID, public("copy"), now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Renew(first.ID, public("copy of the copy"), now); err != nil {
		t.Fatal(err)
	}
	shut, err := m.Revoke(string(laptop.ID), now)
	if err != nil || len(shut) != 3 {
		t.Errorf("shut %+v, %v", shut, err)
	}
	if d := m.Lookup(public("desktop")).Device; d == nil || d.Revoked != nil {
		t.Error("a machine with a key of its own was shut out")
	}
	if d := m.Lookup(public("copy of the copy")).Device; d == nil || d.Revoked == nil {
		t.Error("a copy is still let in")
	}
}

func TestAKeyThatWasRenewedHasOneOrigin(t *testing.T) {
	var m devices.Members
	invited(t, &m, "invite", "ana", devices.Write, "team")
	first := enrolled(t, &m, "invite", "laptop")
	last := first.ID
	for n := range 3 {
		d, err := m.Renew(last, public("copy"+strconv.Itoa(n)), now)
		if err != nil {
			t.Fatal(err)
		}
		last = d.ID
	}
	if m.Origin(last) != first.ID || m.Origin(first.ID) != first.ID || m.Origin("unknown") != "unknown" {
		t.Errorf("%s and %s", m.Origin(last), m.Origin(first.ID))
	}
}
