package eventlog

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
)

// ErrUnborn means that the repository has no history: its main branch is
// missing. A log always has a first commit, so something removed it. Nothing
// is written; restore the branch from a backup or from the hub.
var ErrUnborn = errors.New("the space has lost its history: refs/heads/main is missing")

// ErrBusy means that another program kept moving the branch. Nothing was
// written. Try again.
var ErrBusy = errors.New("the event log is busy: another program keeps moving its branch")

// ErrNotFound means that the log has no such event.
var ErrNotFound = errors.New("no such event")

// A ForeignError reports a repository of another space. Nothing is written.
type ForeignError struct {
	Have, Want commitform.Space // Want.ID is empty when only the name matters
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the repository is space %q (%s), not %q (%s)", e.Have.Name, e.Have.ID, e.Want.Name, e.Want.ID)
}

// An IncompleteError reports a history that cannot be followed, because the
// repository lacks an object that it needs. Nothing is written. "cairn doctor"
// gets such objects back from where they still are.
type IncompleteError struct{ Err error }

func (e *IncompleteError) Error() string {
	return "the history is not whole: " + e.Err.Error() + "; nothing was changed"
}

func (e *IncompleteError) Unwrap() error { return e.Err }

// incomplete says of an object that is missing what that means.
func incomplete(err error) error {
	if _, said := errors.AsType[*IncompleteError](err); said || !errors.Is(err, plumbing.ErrObjectNotFound) {
		return err
	}
	return &IncompleteError{err}
}

// A CorruptError reports stored bytes that are not the event they should be.
// The other events are not affected. "cairn doctor" gets it back from where it
// is still whole.
type CorruptError struct {
	ID   event.ID // empty when the path names no event
	Path string   // in the repository
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("damaged event at %s: %v", e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// A JournalError means that the write-ahead log of the space holds what cannot be read, and nothing was changed: a newer
// version of cairn wrote it, or it is damaged. Upgrade; if that does not help, "cairn doctor" says what is still whole.
type JournalError struct {
	Path string
	Err  error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("write-ahead log %s: %v; nothing was changed: use the newest cairn on this machine", e.Path, e.Err)
}

func (e *JournalError) Unwrap() error { return e.Err }
