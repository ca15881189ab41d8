package devices_test

import (
	"errors"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"cairn/hub/devices"
	"cairn/internal/event"
)

// Whatever happens, nobody has a right that no invite or grant gave, and
// nobody who was shut out is let in by the same key.
func TestRightsNeverAppearFromNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m devices.Members
		given := map[string]bool{}
		dead := map[event.DeviceID]bool{}
		person := rapid.SampledFrom([]string{"ana", "bo"})
		space := rapid.SampledFrom([]string{"team", "docs"})
		role := rapid.SampledFrom([]devices.Role{devices.Read, devices.Write})
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				p, s, r := person.Draw(t, "person"), space.Draw(t, "space"), role.Draw(t, "role")
				n++
				key, device := "invite"+strconv.Itoa(n), "device"+strconv.Itoa(rapid.IntRange(0, n).Draw(t, "device"))
				if err := m.Invite(public(key), p, []string{s}, r, now, devices.DefaultTTL); err != nil {
					t.Fatal(err)
				}
				d, err := m.Enrol(public(key), public(device), device, now)
				if err == nil {
					given[p+s] = true
				}
				if err == nil && dead[d.ID] {
					t.Fatalf("the revoked %s was enrolled", d.ID)
				}
			},
			"revoke": func(t *rapid.T) {
				p := person.Draw(t, "person")
				shut, err := m.Revoke(p, now)
				if err != nil && !errors.Is(err, devices.ErrNoPerson) {
					t.Fatal(err)
				}
				for _, d := range shut {
					dead[d.ID] = true
				}
				delete(given, p+"team")
				delete(given, p+"docs")
			},
			"": func(t *rapid.T) {
				for _, p := range []string{"ana", "bo"} {
					for _, s := range []string{"team", "docs"} {
						if got := m.Role(p, s) != devices.None; got != given[p+s] {
							t.Fatalf("%s has a right in %s: %v, given: %v", p, s, got, given[p+s])
						}
					}
				}
				for _, d := range m.Devices() {
					if dead[d.ID] != (d.Revoked != nil) {
						t.Fatalf("device %s is revoked: %v", d.ID, d.Revoked)
					}
				}
			},
		})
	})
}
