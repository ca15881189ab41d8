package aitools

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknownTool means that there is no adapter of that name. All lists those that there are.
var ErrUnknownTool = errors.New("unknown AI tool")

// A ManualError means that a file was left as it is, because it could not be edited without a risk to what others wrote in
// it. Show it to the person: it says what to do by hand. Changes to other files are not affected.
type ManualError struct {
	Path    string
	Reason  string
	Advice  string // what to do, for example "put this in"
	Snippet string // the lines in question; may be empty
	Err     error  // why, if a library said so
}

func (e *ManualError) Error() string {
	text := fmt.Sprintf("%s was left as it is: %s. %s", e.Path, e.Reason, e.Advice)
	if e.Snippet == "" {
		return text
	}
	return text + ":\n" + strings.TrimRight(e.Snippet, "\n")
}

// Unwrap is the cause.
func (e *ManualError) Unwrap() error { return e.Err }

// A ChangedError means that a file is no longer what it was when the change was planned. It was left as it is; changes
// before it were made. Plan again.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return e.Path + " was changed by somebody else in the meantime and was left as it is; try again"
}
