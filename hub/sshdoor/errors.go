package sshdoor

import (
	"fmt"

	"cairn/hub/devices"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

// errCommand refuses a command line. It never repeats it.
var errCommand = &problem.Problem{
	Code:    problem.Usage,
	Message: "the hub runs no such command, and gives no shell",
	Hint:    "use git clone, fetch or push, or one of: whoami, spaces, watch SPACE, hub VERB",
}

// errFailed stands for a failure whose cause is not for the caller's eyes.
var errFailed = &problem.Problem{
	Code:    problem.Failed,
	Message: "the hub failed at this; its log says why",
	Hint:    "nothing was stored; try again, and tell the hub's operator if it stays so",
}

// errNoRoom says what every pusher can do something about: wait.
var errNoRoom = &problem.Problem{
	Code:    problem.Busy,
	Message: "the hub's disk has no room left",
	Hint:    "nothing was stored, and the hub keeps what it has; what you saved stays on this machine and is sent when there is room; tell the hub's operator",
}

func errUnknown(fingerprint string) *problem.Problem {
	return &problem.Problem{
		Code:    problem.HubRefused,
		Message: "this hub does not know the key " + fingerprint,
		Hint:    `ask its admin for an invite and run "cairn join"; if you meant another key, name it with ssh -i and set IdentitiesOnly yes`,
	}
}

func errNotEd25519(fingerprint string) *problem.Problem {
	return &problem.Problem{
		Code:    problem.HubRefused,
		Message: "this hub takes ed25519 keys only, not the key " + fingerprint,
		Hint:    `use this machine's own key, the file device_key in its cairn home, with ssh -i and IdentitiesOnly yes`,
	}
}

func errRevoked(fingerprint string, d devices.Device) *problem.Problem {
	return &problem.Problem{
		Code:    problem.HubRefused,
		Message: fmt.Sprintf("the key %s of device %s was revoked at this hub on %s", fingerprint, d.ID, d.Revoked.Format("2006-01-02")),
		Hint:    "ask its admin; a revoked key never comes back, a new invite makes a new one",
	}
}

var errMembers = &problem.Problem{
	Code:    problem.Corrupt,
	Message: "this hub cannot read its member list, so nobody is let in",
	Hint:    "tell the hub's operator; what you saved stays on this machine until the hub is back",
}

// refusal is why the hub does not welcome who, or nil.
func refusal(who devices.Identity, fingerprint string) *problem.Problem {
	switch {
	case who.Device != nil && who.Device.Revoked != nil:
		return errRevoked(fingerprint, *who.Device)
	case who.Device == nil && who.Invite == nil:
		return errUnknown(fingerprint)
	}
	return nil
}

// mayRun refuses every command but enrol to an invite, and enrol to a device.
func mayRun(who devices.Identity, cmd Command) *problem.Problem {
	switch {
	case who.Invite != nil && cmd.Name != hubwire.CmdEnrol:
		return &problem.Problem{
			Code:    problem.HubRefused,
			Message: "an invite's key may only enrol a device",
			Hint:    `run "cairn join" with the invite, then use the device's own key`,
		}
	case who.Device != nil && cmd.Name == hubwire.CmdEnrol:
		return &problem.Problem{
			Code:    problem.HubRefused,
			Message: "this device is enrolled already",
			Hint:    "enrol with the key of an invite",
		}
	}
	return nil
}
