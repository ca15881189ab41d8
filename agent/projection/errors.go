package projection

import (
	"errors"
	"fmt"

	"cairn/internal/event"
)

// ErrUnknown means that no event of the set has such an id. Look in another
// space, or bring the set level with the log first.
var ErrUnknown = errors.New("no event has this id")

// ErrShort means that a reference has fewer than MinRef characters, or
// characters that no id has. Ask for more of the id.
var ErrShort = fmt.Errorf("an event is named by %d or more characters of the start or the end of its id", MinRef)

// An AmbiguousError reports a reference that fits several events. Ask for
// more characters.
type AmbiguousError struct {
	Ref string
	IDs []event.ID // the first few that fit
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits several events, such as %s and %s: give more characters", e.Ref, e.IDs[0], e.IDs[1])
}
