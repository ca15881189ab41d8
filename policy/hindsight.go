package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"cairn/internal/event"
	"cairn/policy/rules"
	"cairn/policy/secrets"
)

// A Past is a version of a team's policy that is not in force any more.
type Past struct {
	Since time.Time
	// Rules are what it said; nil if that is not known any more.
	Rules func() *rules.Rules
}

// A Hindsight judges events that a history holds already, wherever they come
// from and whenever: what it says follows from the event and the chain of
// versions alone, so that it is the same on every machine.
//
// About secrets the version in force now decides, on all of history. About
// everything else an event is fit if it is by any of the versions by which a
// hub could have taken it: from the one that was in force at the time in its id
// up to the newest. So what was taken once stays fit. Rights are not asked for:
// who might write at that time is not in the chain.
type Hindsight struct {
	now   *Policy
	since time.Time // when it came into force
	past  []Past    // the versions before it, oldest first
	whole bool      // past holds all of them
}

// Hindsight is p with the versions before it, oldest first; since is when p came
// into force. A version counts from the moment at which all before it did. If
// these are not whole, nothing but secrets decides.
func (p *Policy) Hindsight(since time.Time, past []Past, whole bool) *Hindsight {
	h := &Hindsight{now: p, whole: whole}
	var last time.Time
	for _, one := range past {
		if one.Since.Before(last) {
			one.Since = last
		}
		last = one.Since
		h.past = append(h.past, one)
	}
	if h.since = since; since.Before(last) {
		h.since = last
	}
	return h
}

// Policy is the one in force.
func (h *Hindsight) Policy() *Policy { return h.now }

// Secrets is nil if form, class and secrets do not speak against showing the
// event, and a *RefusedError if they do.
func (h *Hindsight) Secrets(e event.Event) error {
	file, err := whole(e)
	if err != nil {
		return err
	}
	scanner := h.now.scannerFor(e.Space)
	found, err := secretsIn(e, file, func(string) *secrets.Scanner { return scanner })
	if err != nil {
		return err
	}
	var v verdict
	for _, f := range found {
		if !h.now.onTrial(f.Rule) {
			v.found = append(v.found, f)
		}
	}
	return v.refusal()
}

// Terms is the same for the other rules of the team's file.
func (h *Hindsight) Terms(e event.Event) error {
	if h.now.rules == nil || !h.whole {
		return nil
	}
	file, err := event.Unsigned(e)
	if err != nil {
		return refuseSize(err)
	}
	s := rules.Subject{Event: e, Size: len(file)}
	v := verdict{broken: blocking(h.now.rules, s)}
	if len(v.broken) == 0 || h.wasFit(s) {
		return nil
	}
	return v.refusal()
}

// wasFit says whether a version before the one in force could have taken an
// event: at the earliest a hub did when its clock was as far behind the
// event's time as it may be.
func (h *Hindsight) wasFit(s rules.Subject) bool {
	earliest := s.Event.ID.Time().Add(-event.MaxAhead)
	end := h.since
	for i := len(h.past) - 1; i >= 0; i-- {
		if end.Before(earliest) {
			return false
		}
		if r := h.past[i].Rules(); r == nil || len(blocking(r, s)) == 0 {
			return true
		}
		end = h.past[i].Since
	}
	return !end.Before(earliest) // by the built-in rules
}

// blocking is what of a file's rules an event breaks, without what is on trial.
func blocking(r *rules.Rules, s rules.Subject) (broken []rules.Violation) {
	for _, b := range r.Judge(s) {
		if b.Stage == rules.Block {
			broken = append(broken, b)
		}
	}
	return broken
}

// A Basis is what a space is judged by at one moment. Where two are equal no
// verdict on an event differs.
type Basis struct {
	Secrets string `json:"secrets"` // what the rules about secrets come to
	Terms   string `json:"terms"`   // likewise the other rules of the newest version
	Number  int    `json:"number"`  // of the newest version
	Whole   bool   `json:"whole,omitempty"`
}

// Basis is what a space is judged by now. What the program itself takes for a
// secret is not in it.
func (h *Hindsight) Basis(space string) Basis {
	b := Basis{Number: h.now.number, Whole: h.whole}
	if h.now.rules != nil {
		b.Secrets, b.Terms = digest(h.now.rules.SecretsNow(space)), digest(h.now.rules.Demands(space))
	}
	return b
}

// digest is short for a text, and nothing for nothing.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Unfit lists what an error of Secrets or Terms has found, and where.
func Unfit(err error) []Place {
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok {
		return []Place{{Rule: RuleUnjudged}}
	}
	return refused.Places()
}

// RuleUnjudged is the rule of an event of which nothing could be found out.
const RuleUnjudged = "unjudged"

// String names it for a log.
func (b Basis) String() string { return fmt.Sprintf("policy version %d", b.Number) }
