package versions

import (
	"errors"
	"fmt"
)

// ErrForm means that bytes are not a proposal or version in its one canonical
// form. Take it for damage, or for a newer program's.
var ErrForm = errors.New("not a policy version in its canonical form")

// A ChainError reports a version that does not follow from the one before it.
// Keep the version that is in force, and say so.
type ChainError struct {
	Number int // of the version
	Reason string
}

func (e *ChainError) Error() string {
	return fmt.Sprintf("policy version %d is not taken: %s", e.Number, e.Reason)
}
