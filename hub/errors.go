package hub

import (
	"errors"
	"fmt"

	"cairn/hub/devices"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
)

func errNoHub(dir string) *problem.Problem {
	return &problem.Problem{
		Code:    problem.NoStore,
		Message: "there is no hub in " + dir,
		Hint:    "make one with: cairn hub init --data " + dir,
	}
}

func errHostKey(path string, err error) *problem.Problem {
	return &problem.Problem{
		Code:    problem.Corrupt,
		Message: fmt.Sprintf("the host key %s cannot be used, so nothing is served: %v", path, err),
		Hint:    "restore it from a backup; with another key every machine will refuse the hub",
		Err:     err,
	}
}

// errServed says that another process serves the folder.
func errServed(err error) error {
	locked, ok := errors.AsType[*disk.LockedError](err)
	if !ok {
		return fmt.Errorf("serve the hub: %w", err)
	}
	return &problem.Problem{
		Code:    problem.Busy,
		Message: fmt.Sprintf("this hub is being served already, by process %d", locked.PID),
		Hint:    "its administration works meanwhile; to serve it here, end that process first",
		Err:     err,
	}
}

func errReadOnly(who caller, space string) *problem.Problem {
	return &problem.Problem{
		Code:    problem.HubRefused,
		Message: fmt.Sprintf("%s may read the space %s and not write to it (device %s, key %s)", who.Person, space, who.ID, who.fingerprint),
		Hint:    fmt.Sprintf("an admin can grant it: cairn hub grant %s %s write", who.Person, space),
	}
}

func errAuditSpace() *problem.Problem {
	return &problem.Problem{
		Code: problem.HubRefused, Rule: hubwire.RuleAudit,
		Message: "the space " + hubwire.Audit + " is what the hub itself records (rule " + hubwire.RuleAudit + "): admins read it, and nobody pushes to it",
		Hint:    "save your note in another space",
	}
}

func errNotAdmin(who caller) *problem.Problem {
	return &problem.Problem{
		Code:    problem.HubRefused,
		Message: fmt.Sprintf("%s is no admin of this hub (device %s, key %s)", who.Person, who.ID, who.fingerprint),
		Hint:    "ask one, or run the verb on the hub's own machine",
	}
}

// asEnrolProblem words why an enrolment failed; others stay as they are.
func asEnrolProblem(err error) error {
	p := &problem.Problem{Code: problem.HubRefused, Err: err}
	inv, badInvite := errors.AsType[*devices.InviteError](err)
	switch {
	case err == nil:
		return nil
	case badInvite:
		p.Message, p.Hint = inv.Error(), "ask an admin for a new one: cairn hub invite"
	case errors.Is(err, hubwire.ErrEnrolment):
		p.Message, p.Hint = err.Error(), `enrol with "cairn join INVITE"; nothing was changed`
	case errors.Is(err, devices.ErrRevoked):
		p.Rule = hubwire.RuleRevoked
		p.Message, p.Hint = err.Error(), "a revoked key never comes back: make this machine a new device, then join again"
	case errors.Is(err, devices.ErrInviteKey):
		p.Message, p.Hint = err.Error(), `enrol with "cairn join INVITE", which makes a key of its own; nothing was changed`
	case errors.Is(err, devices.ErrRenewals):
		p.Message, p.Hint = err.Error(), `revoke it with "cairn hub revoke", and join each of its copies with an invite of its own`
	case errors.Is(err, devices.ErrTaken):
		p.Message, p.Hint = err.Error(), "each person's machines have keys of their own: do not copy a cairn home"
	default:
		return err
	}
	return p
}
