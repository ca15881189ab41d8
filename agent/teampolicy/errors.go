package teampolicy

import (
	"errors"
	"fmt"
)

// A BackwardsError reports a hub whose policy is older than, or another than,
// the one this machine has had from it: restored from a backup, or tampered
// with. The machine keeps what it has.
type BackwardsError struct {
	Have, Shown int // numbers
}

func (e *BackwardsError) Error() string {
	if e.Have == e.Shown {
		return fmt.Sprintf("the hub shows another policy version %d than the one that this machine had from it; it is not taken", e.Shown)
	}
	return fmt.Sprintf("the hub shows policy version %d, and this machine had version %d from it; it stays in force here", e.Shown, e.Have)
}

var errNotWhole = errors.New("it does not hold together")
