package splice

import (
	"errors"
	"fmt"
)

// A ParseError means that the text is not what its format asks for, or is in a form that edits could damage: a byte order
// mark, a key that stands twice. Have a person look at the file; nothing can be done to it safely.
type ParseError struct {
	Line   int // 1 is the first; 0 if unknown
	Reason string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// ErrNoPlace means that the text is sound, but the place where the entry belongs is taken by something of another shape,
// or written in a way that leaves no room for an insertion. Have a person edit the file.
var ErrNoPlace = errors.New("there is no place where the entry could be inserted safely")

// ErrNotCut means that the entry is there and cannot be cut out without touching its neighbors. Have a person edit the
// file.
var ErrNotCut = errors.New("the entry cannot be cut out without touching what stands beside it")
