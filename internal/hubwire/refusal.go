package hubwire

import (
	"encoding/hex"
	"strings"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/lazyregexp"
)

// A Refusal is one reason why a push was refused, as a line that programs
// read:
//
//	cairn: refused rule=<rule> field=<field> commit=<40 hex> path=<path> id=<event id>
//
// with "-" for what is not known or does not have its canonical form. It has
// no room for the text that was found.
type Refusal struct {
	Rule   string
	Field  string
	Commit commitform.Hash
	Path   string
	Event  event.ID
}

// RuleClock is the rule of an event that lies too far ahead of the hub's clock.
// It is the one refusal that time settles: the same event is taken later.
const RuleClock = "clock"

// RuleWrites is the rule of a device that has written as much as the policy
// allows within an hour. Time settles that too.
const RuleWrites = "writes-per-hour"

// RuleLimit is the rule of a push that is too big, or takes too much to look
// at. Nothing in it is to blame: the same history is taken in smaller portions.
const RuleLimit = "limit"

// RuleStale is the rule of a push to a branch that has moved meanwhile. Pull,
// then push again.
const RuleStale = "stale"

const refusalStart = "cairn: refused "

var (
	ruleForm  = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	fieldForm = lazyregexp.New(`^[a-z][a-z0-9_.\[\]-]{0,127}$`)
)

// String is the line, without a line break. Members out of form become "-".
func (r Refusal) String() string {
	commit := "-"
	if r.Commit != (commitform.Hash{}) {
		commit = hex.EncodeToString(r.Commit[:])
	}
	return refusalStart + strings.Join([]string{
		"rule=" + inForm(r.Rule, ruleForm().MatchString(r.Rule)),
		"field=" + inForm(r.Field, fieldForm().MatchString(r.Field)),
		"commit=" + commit,
		"path=" + inForm(r.Path, canonicalPath(r.Path)),
		"id=" + inForm(string(r.Event), canonicalID(string(r.Event))),
	}, " ")
}

func inForm(s string, ok bool) string {
	if !ok {
		return "-"
	}
	return s
}

func canonicalPath(path string) bool {
	_, ok := commitform.IDAt(path)
	return ok || path == commitform.SpaceFile
}

func canonicalID(id string) bool {
	_, err := event.ParseID(id)
	return err == nil
}

// ParseRefusal reads a line that String made; false for any other. A remote's
// "remote: " before it is the caller's to remove.
func ParseRefusal(line string) (Refusal, bool) {
	rest, ok := strings.CutPrefix(line, refusalStart)
	words := strings.Split(rest, " ")
	if !ok || len(words) != 5 {
		return Refusal{}, false
	}
	var value [5]string
	for i, name := range []string{"rule=", "field=", "commit=", "path=", "id="} {
		v, found := strings.CutPrefix(words[i], name)
		if !found {
			return Refusal{}, false
		}
		if v != "-" {
			value[i] = v
		}
	}
	r := Refusal{Rule: value[0], Field: value[1], Path: value[3], Event: event.ID(value[4])}
	if commit, err := hex.DecodeString(value[2]); err == nil && len(commit) == len(r.Commit) {
		copy(r.Commit[:], commit)
	}
	return r, r.String() == line
}
