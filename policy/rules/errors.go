package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Finding is one mistake in a policy file. Its message never repeats a text
// of the file that could be a secret.
type Finding struct {
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1, in characters
	Message string `json:"message"`
}

// In is the finding as compilers write one, for a file of that name.
func (f Finding) In(file string) string {
	return fmt.Sprintf("%s:%d:%d: %s", file, f.Line, f.Column, f.Message)
}

// A CheckError reports a policy file that is not valid, with everything that
// is wrong with it in the order of the file. Nothing of the file is in force;
// its writer mends it and checks it again.
type CheckError struct {
	Findings []Finding
}

func (e *CheckError) Error() string {
	first := e.Findings[0]
	if len(e.Findings) == 1 {
		return fmt.Sprintf("the policy file is not valid: line %d: %s", first.Line, first.Message)
	}
	return fmt.Sprintf("the policy file is not valid in %d places: line %d: %s; …", len(e.Findings), first.Line, first.Message)
}

// In is every finding on a line of its own, for a file of that name.
func (e *CheckError) In(file string) string {
	var b strings.Builder
	for _, f := range e.Findings {
		b.WriteString(f.In(file) + "\n")
	}
	return b.String()
}

func inOrder(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
}

// checked is nil for no findings, and a *CheckError that lists each once.
func checked(found []Finding) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, inOrder)
	return &CheckError{Findings: slices.Compact(found)}
}
