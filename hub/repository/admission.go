package repository

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
	Members *devices.Members // as of the push
	Space   string           // a shared space, or hubwire.Personal
	Owner   string           // of the space, if it is personal
	Now     time.Time
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
	if rule, hint := a.origin(e.Actor.Device); rule != "" {
		found = append(found, intake.Finding{Rule: rule, Field: "actor.device", Hint: hint})
	}
	if e.ID.Time().Sub(a.Now) > event.MaxAhead {
		found = append(found, intake.Finding{
			Rule: hubwire.RuleClock, Field: "id",
			Hint: "the event's time lies more than ten minutes ahead of the hub's clock: set the clock of its machine; cairn sends it again later",
		})
	}
	return found
}

// origin is the rule that a device's event breaks, and what to do.
func (a Admission) origin(id event.DeviceID) (rule, hint string) {
	d, ok := a.Members.Device(id)
	switch {
	case !ok:
		return RuleUnknownDevice, "the device that signed the event is not enrolled at this hub: enrol it with an invite, then push again"
	case d.Revoked != nil:
		return RuleRevokedDevice, "the device that signed the event was revoked at this hub"
	case !a.mayWrite(d.Person):
		return RuleNoRight, "the person whose device signed the event may not write to this space: an admin can grant it"
	}
	return "", ""
}

func (a Admission) mayWrite(person string) bool {
	if a.Space == hubwire.Personal && person != a.Owner {
		return false
	}
	return a.Members.Role(person, a.Space).Allows(devices.Write)
}
