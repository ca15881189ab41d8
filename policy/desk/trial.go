package desk

import (
	"fmt"
	"strings"

	"cairn/internal/hubwire"
)

// Trying is how a hub shall try what is signed on the events that it has. The
// zero Trying has it tell what changes, and take the version all the same.
type Trying struct {
	Strict   bool     // refuse the version if an event is newly refused that is not accepted
	Accept   []string // events that may be, each by its id or a start or end of it
	Untested bool     // try nothing
}

func (t Trying) on(r hubwire.PolicyRequest) hubwire.PolicyRequest {
	r.Untested, r.Accept = t.Untested, t.Accept
	if t.Strict {
		r.Verb += "-strictly"
	}
	return r
}

// linesShown is how many of a list a person is told of.
const linesShown = 20

// tried is a trial in words.
func tried(t *hubwire.PolicyTrial) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tried on %s at the hub: newly refused %d, newly allowed %d.\n", counted(t.Events, "event"), t.NewlyRefused, t.NewlyAllowed)
	if !t.Complete {
		b.WriteString("Not everything could be tried so far; these are not all.\n")
	}
	if len(t.Untried) > 0 {
		fmt.Fprintf(&b, "Not read to the end: %s\n", strings.Join(t.Untried, ", "))
	}
	for _, s := range t.Spaces {
		listBreaks(&b, "newly refused in "+s.Space, s.NewlyRefused, s.Refused)
		listBreaks(&b, "newly allowed in "+s.Space, s.NewlyAllowed, s.Allowed)
	}
	for i, c := range t.Rights {
		if i == linesShown {
			fmt.Fprintf(&b, "and %d more changes of rights: --json lists them\n", len(t.Rights)-i)
			break
		}
		fmt.Fprintf(&b, "rights: %s%s%s in %s\n", c.Person, listed(" gains ", c.Gains), listed(" loses ", c.Loses), c.Space)
	}
	for _, i := range t.MatchedNothing {
		fmt.Fprintf(&b, "line %d does nothing to what is there: %s\n", i.Line, i.What)
	}
	if len(t.Accepted) > 0 {
		b.WriteString("to redact, as accepted:\n")
	}
	for _, id := range t.Accepted {
		fmt.Fprintf(&b, "  cairn redact %s --reason ...\n", id)
	}
	return b.String()
}

func listBreaks(b *strings.Builder, what string, n int, list []hubwire.PolicyBreak) {
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "%s: %d\n", what, n)
	seen := map[string]bool{}
	for _, one := range list {
		seen[string(one.ID)] = true
		fmt.Fprintf(b, "  %s  %s in %s\n", one.ID, one.Rule, one.Field)
	}
	if more := n - len(seen); more > 0 && len(seen) > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
}

func listed(verb string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return verb + strings.Join(words, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
