package admin

import (
	"errors"
	"maps"
	"slices"
	"strings"

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

// usage is what to say when a verb was given what it cannot use.
func usage(verb, message string) *problem.Problem {
	return &problem.Problem{Code: problem.Usage, Message: message, Hint: "the form is: " + forms[verb]}
}

func unknownVerb(message string) *problem.Problem {
	return &problem.Problem{Code: problem.Usage, Message: message, Hint: "the verbs are: " + strings.Join(slices.Sorted(maps.Values(forms)), "; ")}
}
