package repository

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

// refuseFindings tells every finding as a line for programs, and what to do as
// lines for people.
func (p *push) refuseFindings(findings []intake.Finding) error {
	p.out.Events = nil
	for _, f := range findings {
		p.broke(f.Rule)
		if f.Event != "" {
			p.out.Events = append(p.out.Events, f.Event)
		}
	}
	told := ""
	for _, f := range findings[:min(len(findings), maxTold)] {
		p.reply.Message(refusal(f).String())
		if advice := adviceOn(f); advice != told {
			p.reply.Message("cairn: " + advice)
			told = advice
		}
	}
	if more := len(findings) - maxTold; more > 0 {
		p.reply.Message(fmt.Sprintf("cairn: and %d more findings", more))
	}
	p.reply.Message("cairn: nothing of this push was stored")
	return p.report("", fmt.Sprintf("%d findings, see the lines above", len(findings)))
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
