package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"cairn/internal/event"
	"cairn/internal/lazyregexp"
)

// An Allow excuses one value that a rule finds.
type Allow struct {
	Rule        string
	Fingerprint string   // of the value, under the team's key
	Spaces      []string // in which it may stand; none for all
	Force       bool     // also where a checksum says that it is a secret
	By          string
	Until       time.Time // the moment from which on it counts no more
	Line        int
	column      int
}

// An Off switches one built-in rule off, but where a checksum says that it has
// found a secret.
type Off struct {
	Rule   string
	By     string
	Until  time.Time // the moment from which on it counts no more
	Line   int
	column int
}

// Exception names the entry.
func (a Allow) Exception() Exception { return Exception{a.Rule, a.Fingerprint, a.Line} }

// Exception names the entry.
func (o Off) Exception() Exception { return Exception{Rule: o.Rule, Line: o.Line} }

// Limits on exceptions.
const (
	maxAllow   = 1000
	maxOff     = 20
	maxReason  = 200 // bytes
	leapYear   = 366 * day
	longestEnd = leapYear + day // from now; a day is over later than it begins
)

// secretsPart reads what a file says about secrets.
func (f *File) secretsPart(top section) {
	n := top.value["secrets"]
	if n == nil {
		return
	}
	s, ok := top.section("secrets", n, "patterns", "allow", "off")
	if !ok {
		return
	}
	f.patterns(s)
	known := slices.Concat(builtIn(), f.patternIDs())
	for i, n := range s.items("allow", "exceptions") {
		if i == maxAllow {
			s.at(n, s.in("allow"), "there are more than %d", maxAllow)
			break
		}
		f.allow(top.checker, n, known)
	}
	for i, n := range s.items("off", "rules") {
		if i == maxOff {
			s.at(n, s.in("off"), "there are more than %d rules: that is no gate any more", maxOff)
			break
		}
		f.off(top.checker, n)
	}
}

var fingerprintForm = lazyregexp.New(`^[0-9a-f]{16}$`)

func (f *File) allow(c *checker, n *yaml.Node, known []string) {
	s, ok := c.section(c.named("allow", n, "rule"), n, "rule", "fingerprint", "spaces", "reason", "by", "until", "force")
	if !ok {
		return
	}
	s.need("rule", "fingerprint", "reason", "by", "until")
	a := Allow{Line: n.Line, column: n.Column}
	a.Rule = f.ruleNamed(s, known)
	a.Fingerprint = read(s, "fingerprint", "16 hexadecimal digits", func(text string) (string, error) {
		if !fingerprintForm().MatchString(text) {
			return "", errors.New("is no fingerprint: copy the 16 hexadecimal digits from the refusal")
		}
		return text, nil
	})
	a.Spaces = s.words("spaces", "spaces", validSpace)
	a.Force = read(s, "force", "true or false", parseBool)
	if a.Force && f.Approvals < maxApprovals {
		s.at(s.keys["force"], s.where, "force needs approvals: 2 for this policy")
	}
	f.answers(s, &a.By, &a.Until)
	if twin := slices.IndexFunc(f.Allow, func(b Allow) bool { return b.Rule == a.Rule && b.Fingerprint == a.Fingerprint }); twin >= 0 && a.Rule != "" {
		s.at(n, s.where, "this value is allowed at line %d already", f.Allow[twin].Line)
	}
	f.Allow = append(f.Allow, a)
}

func (f *File) off(c *checker, n *yaml.Node) {
	s, ok := c.section(c.named("off", n, "rule"), n, "rule", "reason", "by", "until")
	if !ok {
		return
	}
	s.need("rule", "reason", "by", "until")
	o := Off{Line: n.Line, column: n.Column, Rule: f.ruleNamed(s, builtIn())}
	f.answers(s, &o.By, &o.Until)
	if twin := slices.IndexFunc(f.Off, func(b Off) bool { return b.Rule == o.Rule }); twin >= 0 && o.Rule != "" {
		s.at(n, s.where, "this rule is off at line %d already", f.Off[twin].Line)
	}
	f.Off = append(f.Off, o)
}

func (f *File) patternIDs() []string {
	var ids []string
	for _, p := range f.Patterns {
		ids = append(ids, p.ID)
	}
	return ids
}

// ruleNamed reads the id of one of the rules.
func (f *File) ruleNamed(s section, known []string) string {
	n := s.value["rule"]
	if n == nil {
		return ""
	}
	text, ok := s.scalar(n, s.in("rule"), "the name of a rule")
	if !ok || slices.Contains(known, text) {
		return text
	}
	s.at(n, s.where, "%s%s", s.no("rule", n), meant(text, "rules", known))
	return ""
}

// answers reads why there is an exception, who answers for it and how long.
func (f *File) answers(s section, by *string, until *time.Time) {
	read(s, "reason", "a text", func(text string) (string, error) {
		if len(text) > maxReason || strings.IndexFunc(text, unicode.IsControl) >= 0 || strings.TrimSpace(text) == "" {
			return "", fmt.Errorf("is no reason: write one line, %d bytes at most", maxReason)
		}
		return text, nil
	})
	if n := s.value["by"]; n != nil && n.Value != "" && !slices.Contains(f.Admins, n.Value) {
		s.at(n, s.in("by"), "%s is no admin%s", s.quote(n), meant(n.Value, "admins", f.Admins))
	} else {
		*by = read(s, "by", "an admin", func(text string) (string, error) { return text, nil })
	}
	*until = read(s, "until", "a day", parseDay)
}

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errors.New("must be true or false")
	}
	return text == "true", nil
}

func validSpace(text string) error {
	if !event.ValidSpaceName(text) {
		return errors.New("is no space: names are lower-case letters, digits and dashes, 63 at most")
	}
	return nil
}
