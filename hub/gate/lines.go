package gate

import (
	"fmt"

	"cairn/internal/commitform"
	"cairn/internal/hubwire"
	"cairn/sync/gitwire"
	"cairn/sync/intake"
)

// maxTold is how many findings are told of one push. A client keeps about
// this many lines.
const maxTold = gitwire.MaxMessages / 2

// NothingStored ends what is told of a refused push.
const NothingStored = "cairn: nothing of this push was stored"

// Lines tells findings to who pushed: each as a line for programs, then what to
// do as a line for people, unless that was said just before. Lines may be
// broken within. Nothing of what was found is in them.
func Lines(findings []intake.Finding) []string {
	var lines []string
	told := ""
	for _, f := range findings[:min(len(findings), maxTold)] {
		lines = append(lines, refusal(f).String())
		if advice := adviceOn(f); advice != told {
			lines = append(lines, "cairn: "+advice)
			told = advice
		}
	}
	if more := len(findings) - maxTold; more > 0 {
		lines = append(lines, fmt.Sprintf("cairn: and %d more findings", more))
	}
	return append(lines, NothingStored)
}

func refusal(f intake.Finding) hubwire.Refusal {
	return hubwire.Refusal{Rule: f.Rule, Field: f.Field, Commit: commitform.Hash(f.Commit), Path: f.Path, Event: f.Event}
}

// adviceOn says what to do about a finding. An object that no commit brought
// has no other name than its id.
func adviceOn(f intake.Finding) string {
	advice := f.Hint
	if advice == "" {
		advice = "take this out of your history: save the note anew without it, and push again"
	}
	if f.Commit.IsZero() && !f.Object.IsZero() {
		return fmt.Sprintf("object %s: %s", f.Object, advice)
	}
	return advice
}
