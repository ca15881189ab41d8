package secrets_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/policy/secrets"
)

var (
	word  = rapid.SampledFrom(strings.Fields("task risk disk desk ask while bearer certificates for token secret key pass auth session the api sk pk live test user admin refresh index"))
	hexes = rapid.StringMatching(`[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{7,12}`)
)

func clean(t *rapid.T, s *secrets.Scanner, text string) {
	if f := s.Scan([]byte(text)); len(f) > 0 {
		t.Fatalf("%s finds a secret in %q", f[0].Rule, text)
	}
}

// A short prefix such as "sk-" must not be seen inside "task-while-".
func TestDashedNamesAreNoTokens(t *testing.T) {
	s := secrets.New()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 2, 12).Draw(t, "words")
		separator := rapid.SampledFrom([]string{"-", "_", ".", "/", ""}).Draw(t, "separator")
		name := strings.Join(words, separator)
		clean(t, s, name)
		clean(t, s, "refs/heads/"+name+"-"+hexes.Draw(t, "id"))
		clean(t, s, `"content_hash": "sha256:`+rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "hash")+`"`)
	})
}

// The words of the trade in any order are prose.
func TestTalkAboutSecretsIsNoSecret(t *testing.T) {
	s := secrets.New()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 2, 20).Draw(t, "words")
		clean(t, s, strings.Join(words, " "))
		clean(t, s, "Bearer "+strings.Join(words, "-"))
		clean(t, s, strings.Join(words, ": "))
		clean(t, s, strings.Join(words, " = "))
	})
}

// An identifier of any common form opens nothing, whatever it is called.
func TestIdentifiersUnderWeakNamesAreNoSecrets(t *testing.T) {
	s := secrets.New()
	forms := []*rapid.Generator[string]{
		rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}`),
		rapid.StringMatching(`01[0-9abcdefghjkmnpqrstvwxyz]{24}`),
		rapid.StringMatching(`sha256:[0-9a-f]{64}`),
		rapid.StringMatching(`v[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,2}(-rc\.[0-9])?`),
		rapid.StringMatching(`20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z`),
		hexes,
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(forms).Draw(t, "form").Draw(t, "id")
		name := rapid.SampledFrom([]string{"token", "key", "cache key", "token id", "public key", "commit", "build", "session"}).Draw(t, "name")
		clean(t, s, name+": "+id)
		clean(t, s, `{"`+name+`": "`+id+`"}`)
	})
}
