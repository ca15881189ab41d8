package devices

import (
	"errors"
	"fmt"
)

// ErrNoPerson means that the hub has no member of that name. Invite first.
var ErrNoPerson = errors.New("the hub has no member of that name")

// ErrNoDevice means that the hub knows no such device. List the devices.
var ErrNoDevice = errors.New("the hub knows no such device")

// ErrRevoked means that the device's key was revoked. Make a new key and ask
// for a new invite.
var ErrRevoked = errors.New("this device's key was revoked at the hub")

// ErrTaken means that the device belongs to another person. Nothing changes.
var ErrTaken = errors.New("this device is enrolled for another person")

// ErrInviteKey means that the key is that of an invite, which others have seen
// and whose holder may only enrol. Make a key of the machine's own.
var ErrInviteKey = errors.New("the key of an invite cannot become a device's")

// ErrRenewals means that a device has enrolled as many keys as it may. Join
// with a new invite.
var ErrRenewals = errors.New("this device's key has been renewed too often")

// An InviteError reports an invite that opens nothing any more. Ask an admin
// for a new one.
type InviteError struct {
	Reason string // was used, has expired, was canceled, is not known
}

func (e *InviteError) Error() string { return "the invite " + e.Reason }

// A FormError reports a name, role or span of time that cannot be used. Ask
// differently; nothing changed.
type FormError struct {
	What   string
	Reason string
}

func (e *FormError) Error() string { return e.What + " " + e.Reason }

// A CorruptError reports a member list that cannot be read. Nobody gets in
// until it is restored from a backup.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("the member list %s cannot be read, so nobody is let in: restore it from a backup: %v", e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }
