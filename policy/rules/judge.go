package rules

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/internal/event"
	"cairn/policy/scope"
)

// A Subject is an event to be judged, with what is known of where it comes
// from.
type Subject struct {
	Event  event.Event
	Size   int    // bytes of its file; 0 if it is not known
	Person string // who brings it; "" if that is not known
	Draft  bool   // it is not signed yet
}

// A Violation is a rule of the file that an event breaks.
type Violation struct {
	Rule   string
	Field  string // of the event
	Stage  Stage
	Line   int    // of the file
	Reason string // in words; holds nothing that the event's writer chose
}

// Judge says which rules of the file an event breaks, secrets left aside:
// those are the Scanner's. Nothing in the space local does, which a team's
// policy does not reach.
func (r *Rules) Judge(s Subject) []Violation {
	name := s.Event.Space
	if name == scope.Local {
		return nil
	}
	space, ok := r.space(name)
	if !ok {
		return []Violation{{Rule: RuleSpace, Field: "space", Stage: Block, Reason: noSpace}}
	}
	var broken []Violation
	for _, q := range questions {
		if v := q.ask(r, space, s); v != nil {
			broken = append(broken, *v)
		}
	}
	return broken
}

const noSpace = "the policy lists no space of that name, and no default"

// A question is what one rule of the file asks of an event.
type question struct {
	rule, field string
	key         string // of the space that says the rule; none for the space itself
	look        func(*judgement)
}

// questions are all of them, in the order in which they are asked.
var questions = []question{
	{RuleRight, "actor.device", "", (*judgement).right},
	{RuleKind, "kind", "kinds", (*judgement).kind},
	{RuleHarness, "actor.harness", "harnesses", (*judgement).harness},
	{RuleClassification, "classification", "classification", (*judgement).class},
	{RuleEventSize, "event", "event", (*judgement).size},
	{RuleSignature, "sig", "signatures", (*judgement).signature},
}

// ask returns what the event breaks; nil for nothing.
func (q question) ask(r *Rules, space *Space, s Subject) *Violation {
	j := &judgement{question: q, rules: r, space: space, subject: s}
	q.look(j)
	return j.broken
}

// line is where the file says the rule; 0 if it does not.
func (q question) line(space *Space) int {
	if q.key == "" {
		return space.Line
	}
	return space.lines[q.key]
}

type judgement struct {
	question
	rules   *Rules
	space   *Space
	subject Subject
	broken  *Violation
}

func (j *judgement) breaks(stage Stage, format string, args ...any) {
	line := cmp.Or(j.line(j.space), j.space.Line)
	j.broken = &Violation{Rule: j.rule, Field: j.field, Stage: stage, Line: line, Reason: fmt.Sprintf(format, args...)}
}

func (j *judgement) right() {
	e, person := j.subject.Event, j.subject.Person
	if person == "" {
		return
	}
	right := Write
	if e.Kind == event.KindRedact {
		right = Redact
	}
	if !j.rules.May(person, e.Space, right) {
		j.breaks(Block, "the person may not %s in this space", right)
	}
}

func (j *judgement) kind() {
	if k := j.subject.Event.Kind; len(j.space.Kinds) > 0 && !slices.Contains(j.space.Kinds, k) {
		j.breaks(Block, "events of kind %s may not be written to this space", k)
	}
}

// harness judges the AI tool. People who write without one name none.
func (j *judgement) harness() {
	a := j.subject.Event.Actor
	if len(j.space.Harnesses) == 0 || a.Harness == "" && a.Kind != event.ActorAgent {
		return
	}
	if !slices.Contains(j.space.Harnesses, strings.ToLower(a.Harness)) {
		j.breaks(Block, "this AI tool may not write to this space; those that may are %s", and(j.space.Harnesses))
	}
}

func (j *judgement) class() {
	if c := j.subject.Event.Classification; len(j.space.Classes) > 0 && !slices.Contains(j.space.Classes, c) {
		j.breaks(Block, "%s events may not stand in this space", c)
	}
}

func (j *judgement) size() {
	if most := j.space.Limits.Event; most > 0 && int64(j.subject.Size) > most {
		j.breaks(Block, "the event has %d bytes, %s are allowed", j.subject.Size, size(most))
	}
}

func (j *judgement) signature() {
	if j.subject.Draft || j.subject.Event.Sig != nil || j.space.Signatures == SignaturesOff {
		return
	}
	stage := Report
	if j.space.Signatures == SignaturesRequired {
		stage = Block
	}
	j.breaks(stage, "the event is not signed")
}

// Ends is the moment from which on an event counts as expired, and whether
// there is one. It is the same on every machine: the spread comes from the
// event's id.
func (r *Rules) Ends(e event.Event) (time.Time, bool) {
	kept := r.retention(e)
	if kept.Keep == forever {
		return time.Time{}, false
	}
	late := time.Duration(r.share(e) * float64(spread(kept.Keep, kept.Jitter)))
	return e.ID.Time().Add(kept.Keep + late).Truncate(time.Millisecond), true
}

// Over says whether an event counts as expired at a moment, as Ends does, but
// computes its end only where the spread decides. It looks at the event's
// space, id, kind and class.
func (r *Rules) Over(e event.Event, at time.Time) bool {
	kept := r.retention(e)
	age := at.Sub(e.ID.Time())
	switch {
	case kept.Keep == forever || age < kept.Keep:
		return false
	case age > kept.latest():
		return true
	}
	end, _ := r.Ends(e)
	return !at.Before(end)
}

// retention is the row that counts for an event.
func (r *Rules) retention(e event.Event) Retention {
	space, ok := r.space(e.Space)
	if !ok || e.Space == scope.Local || slices.Contains(everlasting, e.Kind) {
		return Retention{Keep: forever}
	}
	kept, _ := first(space.Retention, e.Kind, e.Classification)
	return kept
}

// KeepsAll says whether no event of a space ever ends.
func (r *Rules) KeepsAll(space string) bool {
	s, ok := r.space(space)
	return !ok || space == scope.Local || !slices.ContainsFunc(s.Retention, func(kept Retention) bool { return kept.Keep != forever })
}

// share is how far into the spread an event's end lies, from 0 up to 1.
func (r *Rules) share(e event.Event) float64 {
	mac := hmac.New(sha256.New, r.jitter)
	mac.Write([]byte(e.Space + "\x00" + string(e.ID)))
	const bits = 53 // that a float64 holds
	return float64(binary.BigEndian.Uint64(mac.Sum(nil))>>(64-bits)) / (1 << bits)
}
