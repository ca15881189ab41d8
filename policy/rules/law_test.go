package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/rules"
)

var (
	tools = []string{"claude-code", "codex", "cursor"}
	kinds = event.Kinds()
)

// some draws a part of a list, at least one.
func some[T any](t *rapid.T, of []T, name string) []string {
	var list []string
	for _, v := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(of)-1), 1, len(of), rapid.ID).Draw(t, name) {
		list = append(list, fmt.Sprint(of[v]))
	}
	return list
}

// terms draws the keys that the team and a space may have, one a line.
func terms(t *rapid.T, name string) []string {
	var lines []string
	maybe := func(key string, value func() string) {
		if rapid.Bool().Draw(t, name+key) {
			lines = append(lines, key+": "+value())
		}
	}
	maybe("limits", func() string {
		return "{event: " + rapid.SampledFrom([]string{"1KiB", "2KiB", "1MiB"}).Draw(t, name+"event") + "}"
	})
	maybe("writes_per_hour", func() string { return rapid.SampledFrom([]string{"1", "60"}).Draw(t, name+"writes") })
	maybe("kinds", func() string { return "[" + strings.Join(some(t, kinds, name+"of"), ", ") + "]" })
	maybe("harnesses", func() string { return "[" + strings.Join(some(t, tools, name+"tools"), ", ") + "]" })
	maybe("signatures", func() string {
		return rapid.SampledFrom([]string{"off", "warn", "required"}).Draw(t, name+"signed")
	})
	maybe("retention", func() string {
		return "[" + strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			row := "{keep: " + rapid.SampledFrom([]string{"10d, jitter: 50%", "10d", "15d", "forever"}).Draw(t, "keep")
			if rapid.Bool().Draw(t, "narrow") {
				row += ", kinds: [" + strings.Join(some(t, kinds, "kept"), ", ") + "]"
			}
			if rapid.Bool().Draw(t, "classed") {
				row += ", classification: " + rapid.SampledFrom([]string{"public", "private"}).Draw(t, "class")
			}
			return row + "}"
		}), 1, 3).Draw(t, name+"rows"), ", ") + "]"
	})
	return lines
}

// file is a policy with terms for the team, and others for the space docs.
func file(team, docs []string) string {
	return head + strings.Join(append(team, ""), "\n") + "spaces:\n  default: {read: ['*'], write: ['*']}\n  docs:\n    " +
		strings.Join(append([]string{"read: ['*']", "write: [ana]"}, docs...), "\n    ") + "\n"
}

// subjects draws an event for the space docs.
func subject(t *rapid.T) rules.Subject {
	e := eventtest.Events().Draw(t, "event")
	e.Space, e.Classification = "docs", event.Public
	e.Actor.Kind = rapid.SampledFrom([]event.ActorKind{event.ActorAgent, event.ActorHuman}).Draw(t, "actor")
	e.Actor.Harness = rapid.SampledFrom(append([]string{"", "other"}, tools...)).Draw(t, "tool")
	if rapid.Bool().Draw(t, "signed") {
		e = eventtest.Signed(e, "laptop")
	}
	return rules.Subject{Event: e, Size: rapid.SampledFrom([]int{0, 1025, 2049, 1<<20 + 1}).Draw(t, "size"), Person: rapid.SampledFrom([]string{"", "ana", "carol"}).Draw(t, "person")}
}

// Whatever a space says, if the file is taken the space refuses everything
// that the team's rules refuse, and keeps nothing longer.
func TestASpaceOnlyTightens(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		team := terms(t, "team ")
		own := terms(t, "docs ")
		both, err := rules.Parse([]byte(file(team, own)))
		if err != nil {
			refused++
			return
		}
		taken++
		loose := mustParse(t, file(team, nil)).Rules(rules.Options{})
		tight := both.Rules(rules.Options{})
		for range 5 {
			s := subject(t)
			for _, v := range loose.Judge(s) {
				if !slices.ContainsFunc(tight.Judge(s), func(w rules.Violation) bool {
					return w.Rule == v.Rule && (w.Stage == v.Stage || w.Stage == rules.Block)
				}) {
					t.Fatalf("the space lets pass what breaks the team's %s:\n%s", v.Rule, file(team, own))
				}
			}
			before, ends := loose.Ends(s.Event)
			if after, ok := tight.Ends(s.Event); ends && (!ok || after.After(before)) {
				t.Fatalf("the space keeps %s until %v, the team until %v:\n%s", s.Event.Kind, after, before, file(team, own))
			}
		}
		if tight.WritesPerHour("docs") > loose.WritesPerHour("docs") && loose.WritesPerHour("docs") > 0 {
			t.Fatal("the space allows more writes")
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d files were taken and %d refused: the law was not tried", taken, refused)
	}
}

func mustParse(t *rapid.T, src string) *rules.File {
	f, err := rules.Parse([]byte(src))
	if err != nil {
		t.Fatalf("%v:\n%s", err, src)
	}
	return f
}

// A file that says what a file can say is taken, whatever the order of its
// parts.
func TestAValidFileIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := append(terms(t, "team "), "version: 1", "team: acme", "admins: [ana]", "groups: {ops: [ana, bob]}",
			"secrets: {patterns: [{id: acme-key, match: 'adk_[0-9a-z]{30}', like: 'adk_[0-9a-z]{30}'}], off: [{rule: jwt, reason: x, by: ana, until: 2027-01-01}]}",
			"spaces: {default: {read: ['*'], write: ['group:ops']}, personal: {classification: [private]}}")
		order := rapid.Permutation(parts).Draw(t, "order")
		f := mustParse(t, strings.Join(order, "\n")+"\n")
		if r := f.Rules(rules.Options{}); f.Team != "acme" || len(f.Patterns) != 1 || len(f.Off) != 1 || !r.May("bob", "docs", rules.Write) || r.May("carol", "docs", rules.Write) {
			t.Fatalf("%+v", f)
		}
	})
}

// Whoever is taken off a list loses a right, and nobody gains one.
func TestFewerNamesGiveFewerRights(t *testing.T) {
	people := []string{"ana", "bob", "carol", "dave", "group:ops"}
	rapid.Check(t, func(t *rapid.T) {
		lists := map[string][]string{}
		for _, right := range []string{"read", "write", "admin", "redact"} {
			lists[right] = some(t, people, right)
		}
		make := func(lists map[string][]string) *rules.Rules {
			src := head + "groups: {ops: [carol, erin]}\nspaces:\n  docs:\n"
			for _, right := range []string{"read", "write", "admin", "redact"} {
				src += "    " + right + ": [" + strings.Join(lists[right], ", ") + "]\n"
			}
			return mustParse(t, src).Rules(rules.Options{})
		}
		more := make(lists)
		cut := rapid.SampledFrom([]string{"read", "write", "admin", "redact"}).Draw(t, "cut")
		if len(lists[cut]) == 1 {
			return // a list has a name at least
		}
		lists[cut] = lists[cut][1:]
		fewer := make(lists)
		for _, person := range []string{"ana", "bob", "carol", "dave", "erin", "frank"} {
			for _, right := range rules.Rights() {
				if fewer.May(person, "docs", right) && !more.May(person, "docs", right) {
					t.Fatalf("%s gains %s by fewer names", person, right)
				}
			}
		}
	})
}
