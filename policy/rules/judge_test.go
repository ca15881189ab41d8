package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy/rules"
)

// team is a policy with some of everything.
const team = `version: 1
team: acme
admins: [ana, bob]
approvals: 2
groups:
  ops: [ana, carol]
limits: {event: 64KiB, push: 32MiB, inflated: 256MiB, objects: 5000}
writes_per_hour: 600
harnesses: [claude-code, codex]
signatures: warn
retention:
  - {kinds: [observe], keep: 180d, jitter: 10%}
spaces:
  default:
    read: ["*"]
    write: ["*"]
  personal:
    classification: [private]
  ops:
    read: [dave]
    write: [group:ops]
    redact: [ana]
    kinds: [observe, lesson, redact]
    limits: {event: 16KiB}
    writes_per_hour: 60
    signatures: required
    retention:
      - {kinds: [lesson], keep: 30d}
      - {kinds: [observe], keep: 90d}
  payroll:
    read: [ana]
    write: [ana]
    admin: [erin]
`

func compiled(t *testing.T, src string) *rules.Rules {
	t.Helper()
	return parse(t, src).Rules(rules.Options{})
}

func in(space string, p event.Payload, change ...func(*event.Event)) event.Event {
	e := eventtest.Of(p)
	e.Space = space
	if space != "personal" {
		e.Classification = event.Public
	}
	for _, c := range change {
		c(&e)
	}
	return eventtest.Signed(e, "laptop")
}

func note(space string, change ...func(*event.Event)) event.Event {
	return in(space, &event.Observe{Summary: "x"}, change...)
}

func by(kind event.ActorKind, harness string) func(*event.Event) {
	return func(e *event.Event) { e.Actor.Kind, e.Actor.Harness = kind, harness }
}

// broken lists what a subject breaks: rule, field, stage and line.
func broken(r *rules.Rules, s rules.Subject) string {
	var list []string
	for _, v := range r.Judge(s) {
		list = append(list, fmt.Sprintf("%s %s %s %d", v.Rule, v.Field, v.Stage, v.Line))
	}
	return strings.Join(list, ", ")
}

func TestWhatAnEventBreaks(t *testing.T) {
	r := compiled(t, team)
	target := eventtest.Note("x").ID
	unsigned := func(e event.Event) event.Event { e.Sig = nil; return e }
	redact := &event.Redact{Target: target, Reason: "old"}
	claim := &event.Claim{SchemaType: "fact", Key: "k", Content: "x"}
	for name, c := range map[string]struct {
		subject rules.Subject
		want    string
	}{
		"a note":                      {rules.Subject{Event: note("docs")}, ""},
		"a note of a known tool":      {rules.Subject{Event: note("docs", by(event.ActorAgent, "Claude-Code"))}, ""},
		"a note of another tool":      {rules.Subject{Event: note("docs", by(event.ActorAgent, "other"))}, "harness actor.harness block 9"},
		"an agent that names no tool": {rules.Subject{Event: note("docs", by(event.ActorAgent, ""))}, "harness actor.harness block 9"},
		"a person with another tool":  {rules.Subject{Event: note("docs", by(event.ActorHuman, "other"))}, "harness actor.harness block 9"},
		"as large as allowed":         {rules.Subject{Event: note("docs"), Size: 64 << 10}, ""},
		"too large":                   {rules.Subject{Event: note("docs"), Size: 64<<10 + 1}, "event-size event block 7"},
		"too large for the space":     {rules.Subject{Event: note("ops"), Size: 16<<10 + 1}, "event-size event block 24"},
		"a kind not meant for it":     {rules.Subject{Event: in("ops", claim)}, "kind kind block 23"},
		"that kind elsewhere":         {rules.Subject{Event: in("docs", claim)}, ""},
		"a public note":               {rules.Subject{Event: note("personal", func(e *event.Event) { e.Classification = event.Public })}, "classification classification block 18"},
		"unsigned":                    {rules.Subject{Event: unsigned(note("docs"))}, "signature sig report 10"},
		"unsigned, where it must be":  {rules.Subject{Event: unsigned(note("ops"))}, "signature sig block 26"},
		"unsigned yet":                {rules.Subject{Event: unsigned(note("ops")), Draft: true}, ""},
		"a writer's":                  {rules.Subject{Event: note("ops"), Person: "carol"}, ""},
		"a reader's":                  {rules.Subject{Event: note("ops"), Person: "dave"}, "no-right actor.device block 19"},
		"a redaction":                 {rules.Subject{Event: in("ops", redact), Person: "ana"}, ""},
		"another's redaction":         {rules.Subject{Event: in("ops", redact), Person: "carol"}, "no-right actor.device block 19"},
		"what never leaves a machine": {rules.Subject{Event: note("local", by(event.ActorAgent, "other")), Size: 1 << 20, Person: "x"}, ""},
		"all at once": {rules.Subject{Event: unsigned(in("ops", claim, by(event.ActorAgent, "x"))), Size: 1 << 20, Person: "dave"},
			"no-right actor.device block 19, kind kind block 23, harness actor.harness block 9, event-size event block 24, signature sig block 26"},
	} {
		if got := broken(r, c.subject); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	closed := compiled(t, strings.Replace(team, "  default:\n    read: [\"*\"]\n    write: [\"*\"]\n", "", 1))
	if got := broken(closed, rules.Subject{Event: note("docs")}); got != "unlisted-space space block 0" {
		t.Errorf("a space that is not listed: %q", got)
	}
	if got := broken(closed, rules.Subject{Event: note("personal")}); got != "" {
		t.Errorf("everyone has a personal space: %q", got)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	r := compiled(t, team)
	silent := compiled(t, head)
	for _, c := range []struct{ space, person, want string }{
		{"docs", "anyone", "read write redact"},
		{"docs", "ana", "read write admin redact"},
		{"personal", "anyone", "read write admin redact"},
		{"local", "anyone", "read write admin redact"},
		{"ops", "ana", "read write admin redact"},
		{"ops", "carol", "read write"},
		{"ops", "dave", "read"},
		{"ops", "bob", ""},
		{"payroll", "ana", "read write redact"},
		{"payroll", "erin", "read write admin redact"},
		{"payroll", "bob", ""},
	} {
		var may []string
		for _, right := range rules.Rights() {
			if r.May(c.person, c.space, right) {
				may = append(may, string(right))
			}
			if !silent.May(c.person, c.space, right) {
				t.Errorf("a file that says nothing of spaces takes %s from %s in %s", right, c.person, c.space)
			}
		}
		if got := strings.Join(may, " "); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.person, c.space, got, c.want)
		}
	}
	if r.May("ana", "ops", "own") {
		t.Error("there is no such right")
	}
}

func TestLimitsOfASpace(t *testing.T) {
	r := compiled(t, team)
	for space, want := range map[string]string{
		"docs": "{65536 33554432 268435456 5000} 600", "ops": "{16384 33554432 268435456 5000} 60",
		"personal": "{65536 33554432 268435456 5000} 600", "local": "{0 0 0 0} 0",
	} {
		if got := fmt.Sprint(r.Limits(space), r.WritesPerHour(space)); got != want {
			t.Errorf("%s: %s, want %s", space, got, want)
		}
	}
}

// The end of an event is the same on every machine that has the file, and
// those of one day are spread.
func TestEndsAreSpreadAndTheSameEverywhere(t *testing.T) {
	here, there := compiled(t, team), compiled(t, team)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ends []time.Time
	for i := range 200 {
		e := note("docs", func(e *event.Event) { e.ID = event.NewID(start.Add(time.Duration(i) * time.Second)) })
		a, ok := here.Ends(e)
		if b, _ := there.Ends(e); !ok || !a.Equal(b) {
			t.Fatalf("%v here, %v there", a, b)
		}
		kept := a.Sub(e.ID.Time())
		if kept < 180*24*time.Hour || kept > 198*24*time.Hour {
			t.Fatalf("kept for %v", kept)
		}
		ends = append(ends, a)
	}
	first, last := slices.MinFunc(ends, time.Time.Compare), slices.MaxFunc(ends, time.Time.Compare)
	if last.Sub(first) < 14*24*time.Hour {
		t.Errorf("200 ends lie within %v of 18 days", last.Sub(first))
	}
	other := compiled(t, strings.Replace(team, "team: acme", "team: other", 1))
	e := note("docs")
	if a, _ := here.Ends(e); func() bool { b, _ := other.Ends(e); return a.Equal(b) }() {
		t.Error("two teams have one spread")
	}
}

// Over is Ends at any moment, in any space and for any event.
func TestAnEventIsOverFromItsEndOn(t *testing.T) {
	lists := []string{"[{keep: 1d}]", "[{kinds: [observe], keep: 180d, jitter: 10%}]", "[{classification: public, keep: 30d, jitter: 50%}, {keep: 1d}]", "[{keep: forever}]"}
	for _, list := range lists {
		r := compiled(t, head+"retention: "+list+"\n")
		rapid.Check(t, func(t *rapid.T) {
			e := eventtest.Events().Draw(t, "event")
			e.Space = rapid.SampledFrom([]string{"docs", "personal", "local"}).Draw(t, "space")
			end, ends := r.Ends(e)
			if ends && r.KeepsAll(e.Space) {
				t.Fatal("all is kept, and this is not")
			}
			for _, at := range []time.Time{end.Add(-time.Millisecond), end, e.ID.Time(), e.ID.Time().AddDate(0, 0, rapid.IntRange(0, 400).Draw(t, "days"))} {
				if over := r.Over(e, at); over != (ends && !at.Before(end)) {
					t.Fatalf("at %v it is over: %v; its end is %v, %v", at, over, end, ends)
				}
			}
		})
	}
}

func TestHowLongEventsAreKept(t *testing.T) {
	r := compiled(t, team)
	redact := &event.Redact{Target: eventtest.Note("x").ID, Reason: "old"}
	lesson := &event.Lesson{Category: "go", Text: "x", Transition: event.LessonAdd}
	everything := compiled(t, head+"retention: [{keep: 1d}]\n")
	for name, c := range map[string]struct {
		rules *rules.Rules
		event event.Event
		days  int // 0 for forever
	}{
		"a note of ops":           {r, note("ops"), 90},
		"a lesson of ops":         {r, in("ops", lesson), 30},
		"a lesson elsewhere":      {r, in("docs", lesson), 0},
		"a note that stays home":  {r, note("local"), 0},
		"a note":                  {everything, note("docs"), 1},
		"a redaction":             {everything, in("docs", redact), 0},
		"without any of the kind": {compiled(t, head), note("docs"), 0},
	} {
		at, ok := c.rules.Ends(c.event)
		if ok != (c.days > 0) || ok && at.Sub(c.event.ID.Time()) != time.Duration(c.days)*24*time.Hour {
			t.Errorf("%s: until %v, %v", name, at, ok)
		}
	}
}
