package gate

import (
	"time"

	"cairn/hub/devices"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/intake"
)

// An Admission judges the events of one push: by what they say, by the device
// that signed them, whoever brings them, and by their clock. That the
// signature is good, and that space and branch are the right ones, package
// intake has found out before.
type Admission struct {
	// Origin is the rule that a device's events break, and what to do; empty for
	// none. If it is nil, every device is welcome.
	Origin func(event.DeviceID) (rule, hint string)
	Now    time.Time
	// Decide judges what an event says; nil takes everything.
	Decide func(event.Event) []intake.Finding
}

// The rules about where an event comes from.
const (
	RuleUnknownDevice = "unknown-device"
	RuleRevokedDevice = "revoked-device"
	RuleNoRight       = "no-right"
)

// Admit is for intake.Options.
func (a Admission) Admit(e event.Event) []intake.Finding {
	var found []intake.Finding
	if a.Decide != nil {
		found = a.Decide(e)
	}
	if a.Origin != nil {
		if rule, hint := a.Origin(e.Actor.Device); rule != "" {
			found = append(found, intake.Finding{Rule: rule, Field: "actor.device", Hint: hint})
		}
	}
	if e.ID.Time().Sub(a.Now) > event.MaxAhead {
		found = append(found, intake.Finding{
			Rule: hubwire.RuleClock, Field: "id",
			Hint: "the event's time lies more than ten minutes ahead of the hub's clock: set the clock of its machine; cairn sends it again later",
		})
	}
	return found
}

// Members is the Origin of a space at a hub: the devices of those who may write
// to it. Space is a shared space, or hubwire.Personal, which has an owner.
func Members(m *devices.Members, space, owner string) func(event.DeviceID) (rule, hint string) {
	mayWrite := func(person string) bool {
		if space == hubwire.Personal && person != owner {
			return false
		}
		return m.Role(person, space).Allows(devices.Write)
	}
	return func(id event.DeviceID) (rule, hint string) {
		d, ok := m.Device(id)
		switch {
		case !ok:
			return RuleUnknownDevice, "the device that signed the event is not enrolled at this hub: enrol it with an invite, then push again"
		case d.Revoked != nil:
			return RuleRevokedDevice, "the device that signed the event was revoked at this hub"
		case !mayWrite(d.Person):
			return RuleNoRight, "the person whose device signed the event may not write to this space: an admin can grant it"
		}
		return "", ""
	}
}
