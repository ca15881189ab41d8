package golden

import "fmt"

// An Error is a mistake in a file, to be put right there.
type Error struct {
	Line, Column int // from 1; Column is 0 where only the line is known
	Message      string
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}
