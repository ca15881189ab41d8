package cputime

import (
	"errors"
	"time"
)

// ErrUnknown means that this system does not tell the time of another process.
// Go on without it, and say so.
var ErrUnknown = errors.New("this system does not tell the processor time of another process")

// Of is the processor time that the running process pid has used. Errors:
// ErrUnknown, or one of the system, such as that there is no such process.
func Of(pid int) (time.Duration, error) { return of(pid) }
