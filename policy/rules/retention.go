package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"cairn/internal/event"
)

// A Retention says how long events are kept. Of a list the first counts that
// is meant for an event; one that none is meant for is kept forever.
type Retention struct {
	Kinds  []event.Kind         // it is meant for; none for all
	Class  event.Classification // it is meant for; "" for all
	Keep   time.Duration        // 0 is forever
	Jitter int                  // percent of Keep over which the ends are spread
	Line   int
	column int
}

const maxRetention = 50

// everlasting kinds are never at an end: what they hide or say of others must
// not come back.
var everlasting = []event.Kind{event.KindRedact, event.KindArchive, event.KindAudit}

func (r Retention) meant(k event.Kind, c event.Classification) bool {
	return (len(r.Kinds) == 0 || slices.Contains(r.Kinds, k)) && (r.Class == "" || r.Class == c)
}

// latest is when at the latest what was written now is at an end; forever is
// later than any other.
func (r Retention) latest() time.Duration {
	if r.Keep == forever {
		return 1<<63 - 1
	}
	return r.Keep + spread(r.Keep, r.Jitter)
}

func spread(keep time.Duration, percent int) time.Duration {
	return time.Duration(int64(keep) / 100 * int64(percent))
}

// keepsLonger says whether r may keep an event for which b would be at an end.
func (r Retention) keepsLonger(b Retention) bool {
	return r.latest() > b.latest() || r.Keep > b.Keep && b.Keep != forever
}

// first is the retention that counts, and its place in the list.
func first(list []Retention, k event.Kind, c event.Classification) (Retention, int) {
	for i, r := range list {
		if r.meant(k, c) {
			return r, i
		}
	}
	return Retention{Keep: forever}, -1
}

var classes = []event.Classification{event.Public, event.Private, event.Secret}

// retention reads a list. If the team has one, no event may be kept longer.
func (s section) retention(team []Retention) []Retention {
	var list []Retention
	for i, n := range s.items("retention", "rows such as {kinds: [observe], keep: 180d}") {
		if i == maxRetention {
			s.at(n, s.in("retention"), "there are more than %d rows", maxRetention)
			break
		}
		if r, ok := s.row(n); ok {
			list = append(list, r)
		}
	}
	looser := map[int]bool{}
	for _, k := range event.Kinds() {
		for _, c := range classes {
			own, i := first(list, k, c)
			if before, _ := first(team, k, c); i >= 0 && own.keepsLonger(before) && !looser[i] {
				looser[i] = true
				s.say(own.Line, own.column, "%s: keeps %s events longer than the team does (line %d)", s.in("retention"), k, before.Line)
			}
		}
	}
	return append(list, team...)
}

func (s section) row(n *yaml.Node) (Retention, bool) {
	before := len(s.found)
	r := Retention{Line: n.Line, column: n.Column}
	row, ok := s.section(s.in("retention"), n, "kinds", "classification", "keep", "jitter")
	if !ok || !row.need("keep") {
		return r, false
	}
	for _, k := range row.words("kinds", "kinds of event", isKind) {
		r.Kinds = append(r.Kinds, event.Kind(k))
	}
	r.Class = read(row, "classification", "a class", parseClass)
	r.Keep = read(row, "keep", "a number of days", parseKeep)
	r.Jitter = read(row, "jitter", "a share", parsePercent)
	if r.Keep == forever && r.Jitter > 0 {
		row.at(row.keys["jitter"], row.where, "what is kept forever has no end to spread")
	}
	return r, len(s.found) == before
}

func parseClass(text string) (event.Classification, error) {
	if c := event.Classification(text); slices.Contains(classes, c) {
		return c, nil
	}
	known := []string{string(event.Public), string(event.Private), string(event.Secret)}
	return "", errors.New(fmt.Sprint("is no class", meant(text, "classes", known)))
}
