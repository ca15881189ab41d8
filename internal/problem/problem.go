package problem

import "errors"

// A Code is a stable word for one kind of failure. A caller decides by it.
type Code string

// The codes, with what a caller does next.
const (
	Failed      Code = "failed"       // unexpected: read the message
	Usage       Code = "usage"        // ask differently
	NoStore     Code = "no_store"     // run "cairn init" or save a note
	NotFound    Code = "not_found"    // no event, space or device of that name
	Secret      Code = "secret"       // take the secret out and save again
	TooBig      Code = "too_big"      // shorten or split
	NotUTF8     Code = "not_utf8"     // convert first
	KeyConflict Code = "key_conflict" // the key belongs to other content
	Policy      Code = "policy"       // the team's rules forbid it
	Busy        Code = "busy"         // try again
	Offline     Code = "offline"      // kept; it is sent later
	HubRefused  Code = "hub_refused"  // the hub said no
	Detached    Code = "detached"     // HEAD is off its branch
	GarbledRef  Code = "garbled_ref"  // a ref holds no object id
	Shallow     Code = "shallow"      // history is cut off
	Foreign     Code = "foreign"      // not a repository of this space
	NewerSchema Code = "newer_schema" // upgrade cairn
	Corrupt     Code = "corrupt"      // run "cairn doctor"
)

// A Problem is a failure ready to be shown.
type Problem struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Rule    string `json:"rule,omitempty"`  // of the gate or the policy
	Field   string `json:"field,omitempty"` // of the event
	Hint    string `json:"hint,omitempty"`  // what to do next
	Err     error  `json:"-"`               // the cause, on this side of the socket only
}

func (p *Problem) Error() string { return p.Message }

// Unwrap is the cause.
func (p *Problem) Unwrap() error { return p.Err }

// New is a problem with a code and a message.
func New(code Code, message string) *Problem {
	return &Problem{Code: code, Message: message}
}

// Of is the problem in err's chain, or err as an unexpected failure.
// It is nil for a nil error.
func Of(err error) *Problem {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return &Problem{Code: Failed, Message: err.Error(), Err: err}
}

// IsA says whether there is an error of type E in err's chain: for whoever words
// errors as problems.
func IsA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// ExitCode is the exit code of the command line for c.
func (c Code) ExitCode() int {
	switch c {
	case Usage:
		return 2
	case NoStore, NotFound:
		return 3
	case Secret, TooBig, NotUTF8, KeyConflict, Policy:
		return 4
	case Busy:
		return 5
	case Offline:
		return 6
	case HubRefused:
		return 7
	case Detached, GarbledRef, Shallow, Foreign, NewerSchema, Corrupt:
		return 8
	default:
		return 1
	}
}
