package rules

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"cairn/policy/scope"
)

// SecretsNow says in words of its own what the file adds to the rules about
// secrets in a space at this moment, what it takes from them, and until when.
// Two that are equal find the same in every text, now and as long as both are
// in force: an end that was moved is a difference before it has come.
func (r *Rules) SecretsNow(space string) string {
	var b strings.Builder
	now := r.options.Now()
	for _, p := range r.file.Patterns {
		if r.Stage(p.ID) == Block {
			fmt.Fprintf(&b, "pattern %q %q %q %g %d %d\n", p.ID, p.Match, p.Literals, p.Entropy, p.Longest, p.Until.Unix())
		}
	}
	for _, o := range r.file.Off {
		if counts(o.Until, now) {
			fmt.Fprintf(&b, "off %q %d\n", o.Rule, o.Until.Unix())
		}
	}
	for _, a := range r.file.Allow {
		if counts(a.Until, now) && r.Keyed() && a.isFor(space) {
			fmt.Fprintf(&b, "allow %q %q %v %x %d\n", a.Rule, a.Fingerprint, a.Force, sha256.Sum256(r.options.Key), a.Until.Unix())
		}
	}
	return b.String()
}

// Demands says in words of its own what else the file asks of events in a
// space, as Judge does when it knows no person; nothing if it asks nothing.
func (r *Rules) Demands(space string) string {
	if space == scope.Local {
		return ""
	}
	s, ok := r.space(space)
	if !ok {
		return "no such space"
	}
	if len(s.Kinds)+len(s.Harnesses)+len(s.Classes) == 0 && s.Limits.Event == 0 && s.Signatures != SignaturesRequired {
		return ""
	}
	return fmt.Sprintf("%q %q %q %d %q", s.Kinds, s.Harnesses, s.Classes, s.Limits.Event, s.Signatures)
}
