package purge

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
)

// A RecordError reports a chain of records that is not what a hub writes.
// Follow none of it; what is stored stays as it is.
type RecordError struct {
	Commit plumbing.Hash
	Reason string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("the record of a purge in commit %s is not to be followed: %s", e.Commit.String()[:10], e.Reason)
}

// A PurgedError names an event that was purged from the space and is not taken
// back. Nothing was written.
type PurgedError struct{ Event event.ID }

func (e *PurgedError) Error() string {
	return fmt.Sprintf("event %s was purged from this space and is not taken back", e.Event)
}
