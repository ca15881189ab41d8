package policy

import (
	"fmt"
	"strings"

	"cairn/internal/problem"
	"cairn/policy/rules"
	"cairn/policy/secrets"
)

// A Finding says where a rule found something that may not be stored.
type Finding struct {
	// Field is the path of the event's member, or the part of an object: for
	// example payload.content, tags[1], message, author.
	Field string
	secrets.Finding
}

// A RefusedError reports an event that may not enter a history. Nothing was
// written. The writer changes the event and saves it again.
type RefusedError struct {
	Code  problem.Code // secret, policy, too_big or not_utf8
	Rule  string       // of the first finding
	Field string       // of the first finding
	// Findings are all secrets that were found; empty for another code.
	Findings []Finding
	// Violations are all rules of the team's file that it breaks.
	Violations []rules.Violation
	// Err is the cause, if it is not a secret. It holds none of the text.
	Err error
}

func (e *RefusedError) Error() string {
	if e.Code != problem.Secret && len(e.Violations) == 0 {
		return fmt.Sprintf("refused, nothing was saved: %v", e.Err)
	}
	reasons := e.places()
	for _, b := range e.Violations {
		reasons = append(reasons, b.Reason+" (rule "+b.Rule+" of the team's policy)")
	}
	return "refused, nothing was saved: " + strings.Join(reasons, "; ")
}

// Fingerprint is that of the finding that gave the rule its name, by which an
// admin could excuse the value; empty if there is none.
func (e *RefusedError) Fingerprint() string {
	if len(e.Findings) == 0 {
		return ""
	}
	return e.Findings[0].Fingerprint
}

// Unwrap is the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// shown is how many findings a message lists.
const shown = 5

func (e *RefusedError) places() []string {
	var places []string
	for i, f := range e.Findings {
		if i == shown {
			return append(places, fmt.Sprintf("and %d more", len(e.Findings)-shown))
		}
		places = append(places, fmt.Sprintf("%s holds %s (rule %s, bytes %d to %d%s)", f.Field, describe(f.Rule), f.Rule, f.Start, f.End, named(f)))
	}
	return places
}

// named adds by what an admin could excuse the value.
func named(f Finding) string {
	if f.Fingerprint == "" {
		return ""
	}
	return ", fingerprint " + f.Fingerprint
}

// Hint says what to do about the refusal.
func (e *RefusedError) Hint() string {
	switch e.Code {
	case problem.Secret:
		if e.Rule == secrets.TooComplex {
			return "save it in plain text, without nested encodings"
		}
		return "take the secret out and name the place where it is kept instead; if it was ever shared, revoke it"
	case problem.TooBig:
		return "shorten it or split it into several notes"
	case problem.NotUTF8:
		return "convert it to UTF-8 first"
	}
	if len(e.Violations) > 0 {
		return "the team's policy does not allow it here: save it to another space, or ask one of the team's admins"
	}
	return "save it to another space or with another class"
}

// Problem is the refusal as it is shown to people and programs.
func (e *RefusedError) Problem() *problem.Problem {
	return &problem.Problem{Code: e.Code, Message: e.Error(), Rule: e.Rule, Field: e.Field, Hint: e.Hint(), Err: e}
}

// describe is what a rule finds, in words.
func describe(rule string) string {
	if rule == secrets.TooComplex {
		return "more nested text than can be checked"
	}
	for _, r := range secrets.Rules() {
		if r.ID == rule {
			return "what looks like a secret: " + r.About
		}
	}
	return "what looks like a secret"
}
