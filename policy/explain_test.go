package policy_test

import (
	"slices"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/policy/rules"
	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// Whatever is excused is named, with the line that excuses it and the field it
// lies in, whoever made the rule and whatever else is found.
func TestWhatIsExcusedIsExplained(t *testing.T) {
	demo, other, own := secretstest.Generate("stripe-test", seeded(21)), secretstest.Generate("stripe-test", seeded(22)), acmeKey(23)
	entry := func(rule, value string) string {
		return "{rule: " + rule + ", fingerprint: " + secrets.Fingerprint(teamKey, []byte(value)) + ", reason: a demo, by: ana, until: 2027-06-30}"
	}
	p := team(t, strings.Replace(pattern, "STAGE", "block", 1)+ // lines 5 to 7
		"  allow:\n    - "+entry("stripe-test", demo)+ // line 9
		"\n    - "+entry("acme-key", own)+ // line 10
		"\n  off:\n    - {rule: jwt, reason: none are used, by: ana, until: 2027-06-30}\n", today) // line 12
	excused := func(rule string, line int, field string) rules.Step {
		return rules.Step{Rule: rule, Line: line, Verdict: rules.Allows, Detail: "excused by the policy, in " + field}
	}
	refused := func(rule string, line int) rules.Step {
		return rules.Step{Rule: rule, Line: line, Verdict: rules.Refuses, Detail: "in payload.content"}
	}
	const content = "payload.content"
	for name, c := range map[string]struct {
		text string
		want []rules.Step
	}{
		"nothing":               {"hello", []rules.Step{{Rule: "secrets", Verdict: rules.Allows, Detail: "nothing is found"}}},
		"a built-in rule":       {demo, []rules.Step{excused("stripe-test", 9, content)}},
		"the team's own":        {own, []rules.Step{excused("acme-key", 10, content)}},
		"a rule that's off":     {secretstest.Generate("jwt", seeded(24)), []rules.Step{excused("jwt", 12, content)}},
		"beside another":        {demo + " and " + other, []rules.Step{refused("stripe-test", 0), excused("stripe-test", 9, content)}},
		"an own beside another": {own + " and " + acmeKey(25), []rules.Step{refused("acme-key", 7), excused("acme-key", 10, content)}},
	} {
		var got []rules.Step
		for _, s := range p.Explain("ana", public("it is "+c.text)) {
			if strings.HasPrefix(s.Detail, "in ") || strings.HasPrefix(s.Detail, "excused") || s.Rule == "secrets" {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
	e := public("hello")
	e.Tags = []string{own}
	if steps := p.Explain("ana", e); !slices.Contains(steps, excused("acme-key", 10, "tags[0]")) {
		t.Errorf("in a tag: %+v", steps)
	}
}

// What is explained is what is decided.
func TestAnExplanationFitsTheDecision(t *testing.T) {
	p := team(t, strings.Replace(pattern, "STAGE", "report, until: 2026-12-15", 1)+"kinds: [observe]\nlimits: {event: 1KiB}\n", today)
	large, claim := public(strings.Repeat("word ", 500)), public("hello")
	claim.Classification, claim.Space = event.Private, "docs"
	for name, e := range map[string]event.Event{
		"plain": public("hello"), "a secret": public("it is " + token(26)), "on trial": public("it is " + acmeKey(27)),
		"too large": large, "private": claim,
	} {
		_, err := p.DecideFrom("ana", e)
		refuses := slices.ContainsFunc(p.Explain("ana", e), func(s rules.Step) bool { return s.Verdict == rules.Refuses })
		if refuses != (err != nil) {
			t.Errorf("%s: it is refused by %v, and explained as %+v", name, err, p.Explain("ana", e))
		}
		if err == nil {
			continue
		}
		if rule := refusal(t, err).Rule; !slices.ContainsFunc(p.Explain("ana", e), func(s rules.Step) bool { return s.Rule == rule && s.Verdict == rules.Refuses }) {
			t.Errorf("%s: the rule %s is not in the explanation %+v", name, rule, p.Explain("ana", e))
		}
	}
}
