package hubwire

import "cairn/internal/problem"

// A Failure is what a command of this package answers instead, when it fails.
// The exit status is that of the problem's code.
type Failure struct {
	Error *problem.Problem `json:"error"`
}
