package hubstate

import (
	"errors"
	"fmt"
)

// A DamagedError reports a kept file that cannot be read. It counts as none
// until the next sync brings it again.
type DamagedError struct {
	Path      string
	Meanwhile string // what counts until then, as a sentence
	Err       error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s cannot be read: %s until the next sync brings it again: %v", e.Path, e.Meanwhile, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// A RefusedError says why something that the hub shows is not taken. What is
// kept stays.
type RefusedError struct {
	Why   error
	Again bool // ask again, though the hub shows nothing else
}

func (e *RefusedError) Error() string { return e.Why.Error() }

func (e *RefusedError) Unwrap() error { return e.Why }

// ErrKey means that something came with another key than the hub's.
var ErrKey = errors.New("it comes with another key than the hub's")
