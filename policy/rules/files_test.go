package rules_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cairn/policy/rules"
	"cairn/policy/secrets/secretstest"
)

const head = "version: 1\nteam: acme\nadmins: [ana, bob]\n"

func parse(t *testing.T, src string) *rules.File {
	t.Helper()
	f, err := rules.Parse([]byte(src))
	if wrong, ok := errors.AsType[*rules.CheckError](err); ok {
		t.Fatalf("%s\nof:\n%s", wrong.In("policy.yaml"), src)
	}
	return f
}

func TestWhatIsNoPlainTextIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for want, src := range map[string]string{
		"policy.yaml:2:9: this is not UTF-8\n":                                                  "version: 1\nteam: ac\xffme\n",
		"policy.yaml:1:1: the character U+FEFF may not stand in a policy file\n":                "\ufeffversion: 1\n",
		"policy.yaml:2:7: the character U+0007 may not stand in a policy file\n":                "version: 1\nteam: \x07\n",
		"policy.yaml:1:2: the character U+2028 may not stand in a policy file\n":                "a\u2028b\n",
		"policy.yaml:1:1: the file is larger than 256 KiB (262144 bytes), which is the limit\n": strings.Repeat("#", rules.MaxFile+1),
		"policy.yaml:4:23: this is nested too deep\n":                                           head + "limits:    " + deep + "\n",
		"policy.yaml:1:1: the file is empty\n":                                                  "",
		"policy.yaml:1:1: this must be a mapping with the keys":                                 "hello",
		"policy.yaml:4:20: retention: keep: this value is no duration; write 180d or forever":   head + "retention: [{keep: '" + strings.Repeat("x", 50) + "'}]",
		"policy.yaml:4:1: no such key; keys are version, team, admins, approvals, groups,":      head + "a1b2c3d4e5f6a7b8c9d0: 1\n",
	} {
		if got := said([]byte(src)); !strings.Contains(got, want) {
			t.Errorf("%.40q…: %s\nwant: %s", src, got, want)
		}
	}
}

// A policy file goes around, and stays for ever: it must pass the gate it
// makes, and no message may repeat what it holds.
func TestASecretInAPolicyFileIsRefusedAndNotRepeated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	token := secretstest.Generate("github-pat", r)
	stripe := secretstest.Generate("stripe-live", r)
	near := secretstest.Generate("datadog-api", r) // shows by the name beside it
	cut := len(near) - 16
	for name, src := range map[string]string{
		"as a reason":      head + "secrets:\n  off:\n    - {rule: jwt, reason: " + token + ", by: ana, until: 2027-01-01}\n",
		"as a key":         head + token + ": 1\n",
		"as a value":       head + "limits: {event: " + token + "}\n",
		"as a pattern":     head + "secrets:\n  patterns:\n    - {id: acme, match: " + stripe + ", like: x}\n",
		"as an id":         head + "secrets:\n  patterns:\n    - {id: " + token + ", match: x, like: x}\n",
		"as a team":        "version: 1\nteam: " + token + "\nadmins: [ana]\n",
		"as a person":      "version: 1\nteam: acme\nadmins: [" + token + "]\n",
		"as a rule":        head + "secrets:\n  allow:\n    - {rule: " + token + "}\n",
		"as a space":       head + "spaces:\n  " + token + ": {read: [ana]}\n",
		"as a group":       head + "spaces:\n  docs: {read: ['group:" + token + "']}\n",
		"as an anchor":     head + "limits: &" + token + " {}\n",
		"as an alias":      head + "limits: *" + token + "\n",
		"as a tag":         head + "limits: !" + token + " {}\n",
		"in a comment":     "# " + token + "\n" + head,
		"escaped":          head + "limits: \"" + token[:6] + `\x` + fmt.Sprintf("%02x", token[6]) + token[7:] + "\"\n",
		"over two lines":   head + "limits: \"" + token[:9] + "\\\n  " + token[9:] + "\"\n",
		"a value in two":   head + "limits: \"" + near[:cut] + "\\\n  " + near[cut:] + "\"\n",
		"behind a mistake": "version: [\n" + head + token,
	} {
		got := said([]byte(src))
		if !strings.Contains(got, "looks like a secret (rule ") {
			t.Errorf("%s: %q", name, got)
		}
		for _, secret := range []string{token, stripe, near} {
			for at := 4; at+8 <= len(secret); at += 4 {
				if strings.Contains(got, secret[at:at+8]) {
					t.Fatalf("%s: part of the secret is repeated", name)
				}
			}
		}
	}
}

func TestCheckSaysWhoMayChangeThePolicy(t *testing.T) {
	s, err := rules.Check([]byte(head + "approvals: 2\n"))
	if err != nil || s.Team != "acme" || strings.Join(s.Admins, " ") != "ana bob" || s.Approvals != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := rules.Check([]byte(head)); err != nil || s.Approvals != 1 {
		t.Errorf("%+v, %v: one signature is enough unless the file asks for two", s, err)
	}
	if s, err := rules.Check([]byte("version: 1\n")); err == nil || s.Admins != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Exceptions end within a year of the day on which they are made; a file that
// is in force does not become wrong by a clock.
func TestNothingIsExceptedForLongerThanAYear(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	entry := func(until string) []byte {
		return []byte(head + `secrets:
  patterns:
    - {id: acme-key, match: 'adk_[0-9a-z]{30}', like: 'adk_[0-9a-z]{30}', stage: report, until: ` + until + `}
  allow:
    - {rule: stripe-test, fingerprint: 9c41d07be2a85f36, reason: a demo, by: ana, until: ` + until + `}
  off:
    - {rule: jwt, reason: our tickets, by: bob, until: ` + until + `}
`)
	}
	for until, want := range map[string]struct{ long, over int }{
		"2026-11-29": {0, 3}, "2026-11-30": {0, 0}, "2027-06-30": {0, 0}, "2027-12-01": {0, 0}, "2027-12-02": {3, 0}, "2099-01-01": {3, 0},
	} {
		_, over, err := rules.CheckNew(entry(until), now)
		long := 0
		if wrong, ok := errors.AsType[*rules.CheckError](err); ok {
			long = len(wrong.Findings)
		}
		if long != want.long || len(over) != want.over {
			t.Errorf("%s: %v, %v; want %+v", until, err, over, want)
		}
		if _, err := rules.Check(entry(until)); err != nil {
			t.Errorf("%s: what is in force became wrong: %v", until, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte("a: &a [*a]\nb: !!int 1\n<<: *a\n? [x]\n: {y: z}\n"))
	f.Add([]byte(head + "secrets: {patterns: [{id: abc, match: '(?i)a(b|c)*[^\\x00-\\x{10FFFF}]', like: 'x{3,}', unlike: a}]}\n"))
	f.Add([]byte(head + "spaces: {default: {read: ['*'], write: ['group:a'], retention: [{keep: 1d, jitter: 50%}]}}\n"))
	f.Add([]byte("\r&"))
	f.Add([]byte("%YAML 1.2\n--- |\n\ta\n...\n---\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		lines := 1 // as YAML counts them
		for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
			lines += bytes.Count(src, []byte(end))
		}
		file, err := rules.Parse(src)
		wrong, ok := errors.AsType[*rules.CheckError](err)
		switch {
		case err == nil:
			file.Rules(rules.Options{}).Scanner("docs").Scan(src)
		case !ok || len(wrong.Findings) == 0:
			t.Fatalf("%v", err)
		default:
			for _, found := range wrong.Findings {
				if found.Line < 1 || found.Line > lines+1 || found.Column < 1 || found.Message == "" {
					t.Fatalf("%+v in %d lines", found, lines)
				}
			}
		}
	})
}
