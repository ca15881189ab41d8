package secrets_test

import (
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// hidden are the kinds that are shown in every disguise.
var hidden = []string{
	"github-pat", "aws-access-key-id", "openai-key", "anthropic-api", "gcp-api-key", "slack-token", "stripe-live",
	"sendgrid", "npm-token", "gitlab-pat", "huggingface", "databricks", "telegram-bot", "digitalocean-pat",
}

// A tally counts what was found of what was made.
type tally struct{ found, made int }

func (n *tally) scan(s *secrets.Scanner, text string) bool {
	n.made++
	ok := len(s.Scan([]byte(text))) > 0
	if ok {
		n.found++
	}
	return ok
}

func (n tally) atLeast(t *testing.T, what string, perMille int) {
	t.Helper()
	t.Logf("%s: found %d of %d", what, n.found, n.made)
	if n.made == 0 || n.found*1000 < n.made*perMille {
		t.Errorf("%s: found %d of %d, want %d per mille", what, n.found, n.made, perMille)
	}
}

func disguised(t *testing.T, s *secrets.Scanner, evasions []secretstest.Evasion) tally {
	var all tally
	for i, evasion := range evasions {
		for _, rule := range hidden {
			r := seeded(uint64(i))
			text := evasion.Apply(r, secretstest.Generate(rule, r))
			if !all.scan(s, text) {
				t.Logf("%s: %s is missed", evasion.Name, rule)
			}
		}
	}
	return all
}

func TestTokensAreFoundInEveryDisguise(t *testing.T) {
	disguised(t, secrets.New(), secretstest.Evasions()).atLeast(t, "disguised tokens", 990)
}

func TestObscureTokensAreFoundMostly(t *testing.T) {
	disguised(t, secrets.New(), secretstest.Obscure()).atLeast(t, "obscure tokens", 900)
}

func TestSecretsAreFoundWhereverTheyStand(t *testing.T) {
	s := secrets.New()
	var all tally
	for _, rule := range secretstest.Rules() {
		r := seeded(11)
		secret := secretstest.Generate(rule, r)
		for _, place := range secretstest.Carriers() {
			if strings.Contains(secret, "\n") && !place.Lines {
				continue
			}
			if !all.scan(s, place.Put(secret)) {
				t.Logf("%s: %s is missed", place.Name, rule)
			}
		}
	}
	all.atLeast(t, "secrets in places", 985)
}

func TestTokensAreFoundInNamesOfThings(t *testing.T) {
	s := secrets.New()
	var all tally
	for _, rule := range hidden {
		for _, place := range secretstest.Names() {
			if !all.scan(s, place.Put(secretstest.Generate(rule, seeded(5)))) {
				t.Logf("%s: %s is missed", place.Name, rule)
			}
		}
	}
	all.atLeast(t, "tokens in names", 985)
}

func TestCleanTextPasses(t *testing.T) {
	s := secrets.New()
	blocked, made := 0, 0
	for seed := range uint64(150) {
		for _, sample := range secretstest.Clean(seeded(seed)) {
			made++
			if f := s.Scan([]byte(sample.Text)); len(f) > 0 {
				blocked++
				t.Logf("%s: %s in %q", sample.Sort, f[0].Rule, sample.Text)
			}
		}
	}
	t.Logf("blocked %d of %d", blocked, made)
	if blocked*1000 > made*5 {
		t.Errorf("blocked %d of %d clean texts, want 0.5 %% at most", blocked, made)
	}
}

// Words in or beside a token excuse nothing, and no comment switches a rule
// off.
func TestNothingInATextExcusesASecret(t *testing.T) {
	s := secrets.New()
	for _, word := range []string{"example", "test", "fake", "false", "dummy", "sample", "todo"} {
		token := secretstest.Generate("gitlab-pat", seeded(3))
		inside := token[:10] + word + token[10+len(word):]
		for _, text := range []string{inside, word + " " + token, token + " # gitleaks:allow", token + " // pragma: allowlist secret", "cairn:allow " + token} {
			if len(s.Scan([]byte(text))) == 0 {
				t.Errorf("%q excuses a token", strings.ReplaceAll(text, token, "TOKEN"))
			}
		}
	}
}
