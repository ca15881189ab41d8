package policy_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

const teamHead = "version: 1\nteam: acme\nadmins: [ana, bob]\napprovals: 2\n"

var (
	teamKey = []byte("the key of a team, 32 bytes long")
	today   = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

// team is a policy with the text behind the head of its file, on a day.
func team(t *testing.T, text string, now time.Time) *policy.Policy {
	t.Helper()
	f, err := rules.Parse([]byte(teamHead + text))
	if err != nil {
		t.Fatal(err)
	}
	return policy.With(7, f.Rules(rules.Options{Key: teamKey, Now: func() time.Time { return now }}))
}

func public(text string) event.Event {
	e := eventtest.Note(text)
	e.Space, e.Classification = "docs", event.Public
	return e
}

// acmeKey is what the team's pattern finds.
func acmeKey(seed uint64) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	r, key := seeded(seed), "adk_"
	for range 40 {
		key += string(letters[r.IntN(len(letters))])
	}
	return key
}

const pattern = `secrets:
  patterns:
    - {id: acme-key, match: 'adk_[0-9a-z]{40}', like: 'adk_[0-9a-z]{40}', stage: STAGE}
`

func TestATeamsPatternRefusesInEveryField(t *testing.T) {
	p := team(t, strings.Replace(pattern, "STAGE", "block", 1), today)
	if p.Number() != 7 {
		t.Errorf("number %d", p.Number())
	}
	for field, e := range eventsWith(acmeKey(1)) {
		refused := refusal(t, p.Decide(e))
		if refused.Code != problem.Secret || refused.Rule != "acme-key" || refused.Findings[0].Fingerprint == "" {
			t.Errorf("%s: %+v", field, refused)
		}
	}
	for field, e := range eventsWith(token(1)) {
		if refused := refusal(t, p.Decide(e)); refused.Rule != "github-pat" {
			t.Errorf("%s: the built-in gate is not there any more: %+v", field, refused)
		}
	}
	if found := p.DecideRaw(policy.Commit, commitOf(ident, "use "+acmeKey(2))); len(found) != 1 || found[0].Field != "message" {
		t.Errorf("in a commit: %+v", found)
	}
}

func TestAPatternOnTrialReportsUntilItsDay(t *testing.T) {
	text := strings.Replace(pattern, "STAGE", "report, until: 2026-12-15", 1)
	e := public("it is " + acmeKey(3))
	before, after := team(t, text, today), team(t, text, time.Date(2026, 12, 16, 0, 0, 0, 0, time.UTC))
	reports, err := before.DecideFrom("ana", e)
	if err != nil || len(reports) != 1 || reports[0].Rule != "acme-key" || reports[0].Field != "payload.content" {
		t.Errorf("on trial: %+v, %v", reports, err)
	}
	if found := before.DecideRaw(policy.Blob, []byte(acmeKey(3))); len(found) > 0 {
		t.Errorf("on trial, in an object: %+v", found)
	}
	refusal(t, after.Decide(e))
	if found := after.DecideRaw(policy.Blob, []byte(acmeKey(3))); len(found) == 0 {
		t.Error("nothing is found in an object after the trial")
	}
	both := public("it is " + acmeKey(3) + " and " + token(4))
	if refused := refusal(t, before.Decide(both)); refused.Rule != "github-pat" || len(refused.Findings) != 1 {
		t.Errorf("a secret beside one on trial: %+v", refused.Findings)
	}
}

// allow is an entry of the file for a value.
func allow(rule, value, more string) string {
	return "secrets:\n  allow:\n    - {rule: " + rule + ", fingerprint: " + secrets.Fingerprint(teamKey, []byte(value)) +
		", reason: a published demo, by: ana, until: 2027-06-30" + more + "}\n"
}

func TestAnAllowedValueIsAllowedWhereAndWhileItIs(t *testing.T) {
	demo := secretstest.Generate("stripe-test", seeded(5))
	other := secretstest.Generate("stripe-test", seeded(6))
	p := team(t, allow("stripe-test", demo, ", spaces: [docs]"), today)
	if err := p.Decide(public("the demo key is " + demo)); err != nil {
		t.Errorf("what is allowed: %v", err)
	}
	if found := p.DecideRawIn("docs", policy.Blob, []byte("the demo key is "+demo)); len(found) > 0 {
		t.Errorf("its bytes in a push: %+v", found)
	}
	elsewhere := public("the demo key is " + demo)
	elsewhere.Space = "ops"
	refusal(t, p.Decide(elsewhere))
	refusal(t, p.Decide(public("the demo key is "+other)))
	refusal(t, p.Decide(public("the demo key is "+demo+" and another "+other)))
	if found := p.DecideRaw(policy.Blob, []byte("the demo key is "+demo)); len(found) == 0 {
		t.Error("what is allowed in one space passes in an object of no known space")
	}
	for _, day := range []time.Time{today.AddDate(0, 7, 1), today.AddDate(-1, 0, 0)} {
		refusal(t, team(t, allow("stripe-test", demo, ""), day).Decide(public("the demo key is "+demo)))
	}
}

// The refusal tells an admin what to write into the file.
func TestARefusalNamesTheFingerprint(t *testing.T) {
	demo := secretstest.Generate("stripe-test", seeded(7))
	refused := refusal(t, team(t, "", today).Decide(public("it is "+demo)))
	if print := secrets.Fingerprint(teamKey, []byte(demo)); !strings.Contains(refused.Error(), "fingerprint "+print) {
		t.Errorf("%v does not name %s", refused, print)
	}
	if strings.Contains(refused.Error(), demo[8:]) {
		t.Error("the refusal repeats the secret")
	}
}

func TestACertainSecretNeedsForce(t *testing.T) {
	certain := token(8)
	for more, want := range map[string]bool{"": false, ", force: true": true} {
		err := team(t, allow("github-pat", certain, more), today).Decide(public("it is " + certain))
		if (err == nil) != want {
			t.Errorf("%q: %v", more, err)
		}
	}
}

func TestARuleThatIsOffStillFindsWhatIsCertain(t *testing.T) {
	off := func(rule string) *policy.Policy {
		return team(t, "secrets:\n  off:\n    - {rule: "+rule+", reason: our ticket numbers, by: bob, until: 2027-03-31}\n", today)
	}
	ticket := secretstest.Generate("stripe-test", seeded(9))
	if err := off("stripe-test").Decide(public("ticket " + ticket)); err != nil {
		t.Errorf("a rule that is off: %v", err)
	}
	refusal(t, off("twilio-api-key").Decide(public("ticket "+ticket)))
	refusal(t, off("github-pat").Decide(public("it is "+token(10))))
	refusal(t, off("private-key").Decide(public(secretstest.Generate("private-key", seeded(11)))))
}

func TestWhatTheFileForbidsIsRefusedByName(t *testing.T) {
	p := team(t, "kinds: [claim]\nlimits: {event: 1KiB}\nharnesses: [codex]\n", today)
	e := public(strings.Repeat("word ", 500))
	e.Actor.Kind = event.ActorAgent
	refused := refusal(t, p.Decide(e))
	want := []policy.Place{{Rule: "kind", Field: "kind"}, {Rule: "harness", Field: "actor.harness"}, {Rule: "event-size", Field: "event"}}
	if got := refused.Places(); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%+v, want %+v", got, want)
	}
	if refused.Code != problem.Policy || refused.Hint() == "" || !strings.Contains(refused.Error(), "1KiB are allowed (rule event-size") {
		t.Errorf("%s: %v", refused.Code, refused)
	}
	e.Tags = []string{token(12)}
	refused = refusal(t, p.Decide(e))
	if refused.Code != problem.Secret || len(refused.Places()) != 4 || !strings.Contains(refused.Error(), "rule kind") {
		t.Errorf("with a secret: %v", refused)
	}
	large := refusal(t, team(t, "limits: {event: 1KiB}\n", today).Decide(public(strings.Repeat("word ", 500))))
	if large.Code != problem.TooBig {
		t.Errorf("a large event: %s", large.Code)
	}
}

// A team that says nothing has the gate that is built in.
func TestAnEmptyFileChangesNothing(t *testing.T) {
	p, built := team(t, "", today), policy.Default()
	rapid.Check(t, func(t *rapid.T) {
		e := eventtest.Events().Draw(t, "event")
		if rapid.Bool().Draw(t, "secret") {
			e.Tags = append(e.Tags, token(rapid.Uint64().Draw(t, "seed")))
		}
		if a, b := p.Decide(e), built.Decide(e); (a == nil) != (b == nil) {
			t.Fatalf("%v with the file, %v without", a, b)
		}
	})
}
