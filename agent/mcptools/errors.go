package mcptools

import "fmt"

// An UnansweredError means that the input ended and requests were still at
// work when the patience for them did. What they were saving may have been
// saved or not.
type UnansweredError struct{ Requests int }

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("the client closed the input and %d of its requests could not be answered in time", e.Requests)
}
