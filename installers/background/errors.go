package background

import "errors"

// ErrNotInstalled means that there is no service to start or stop. Install it, or let the agent start on demand.
var ErrNotInstalled = errors.New("the background service is not installed")

// An UnavailableError means that this machine has no service manager that serves this user. Nothing was changed and
// nothing is lost: the agent is started on demand instead.
type UnavailableError struct {
	Reason string
	Err    error // may be nil
}

func (e *UnavailableError) Error() string {
	return "no background service here: " + e.Reason + "; cairn starts its agent on demand instead"
}

// Unwrap is the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// A ForeignError means that something of the service's name is registered that cairn did not write. It was left as it is.
// Move it away, then install again.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return e.Path + " was not written by cairn and was left as it is; move it away and try again"
}
