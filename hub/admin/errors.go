package admin

import (
	"errors"

	"cairn/hub/devices"
	"cairn/internal/problem"
)

// asProblem words an error of the members for people; others stay as they are.
func asProblem(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, devices.ErrNoPerson):
		return &problem.Problem{Code: problem.NotFound, Message: err.Error(), Hint: `"hub devices" lists who there is; "hub invite" brings somebody new`, Err: err}
	case errors.Is(err, devices.ErrNoDevice):
		return &problem.Problem{Code: problem.NotFound, Message: err.Error(), Hint: `"hub devices" lists them`, Err: err}
	}
	if e, ok := errors.AsType[*devices.FormError](err); ok {
		return &problem.Problem{Code: problem.Usage, Message: e.Error(), Err: err}
	}
	if e, ok := errors.AsType[*devices.CorruptError](err); ok {
		return &problem.Problem{Code: problem.Corrupt, Message: e.Error(), Err: err}
	}
	return err
}

func usage(message string) *problem.Problem {
	return &problem.Problem{Code: problem.Usage, Message: message, Hint: verbs}
}
