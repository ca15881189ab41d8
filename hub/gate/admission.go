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

// A Standing says whose events a space takes.
type Standing struct {
	Space string // a shared space, or hubwire.Personal, which takes its owner's alone
	Owner string
	// Device says whose a device is, and whether it was revoked.
	Device func(event.DeviceID) (person string, revoked, known bool)
	// MayWrite says whether a person may write to the space; nil if everybody
	// may whose device is known.
	MayWrite func(person string) bool

	Unknown, Revoked, NoRight string // what to do, by the rule that is broken
}

// Origin is for an Admission.
func (s Standing) Origin(id event.DeviceID) (rule, hint string) {
	person, revoked, known := s.Device(id)
	switch {
	case !known:
		return RuleUnknownDevice, s.Unknown
	case revoked:
		return RuleRevokedDevice, s.Revoked
	case s.Space == hubwire.Personal && person != s.Owner, s.MayWrite != nil && !s.MayWrite(person):
		return RuleNoRight, s.NoRight
	}
	return "", ""
}

// Members is the Origin of a space at a hub: the devices of those who may write
// to it. Space is a shared space, or hubwire.Personal, which has an owner.
func Members(m *devices.Members, space, owner string) func(event.DeviceID) (rule, hint string) {
	return Standing{
		Space: space, Owner: owner,
		Device: func(id event.DeviceID) (person string, revoked, known bool) {
			d, known := m.Device(id)
			return d.Person, d.Revoked != nil, known
		},
		MayWrite: func(person string) bool { return m.Role(person, space).Allows(devices.Write) },
		Unknown:  "the device that signed the event is not enrolled at this hub: enrol it with an invite, then push again",
		Revoked:  "the device that signed the event was revoked at this hub",
		NoRight:  "the person whose device signed the event may not write to this space: an admin can grant it",
	}.Origin
}
