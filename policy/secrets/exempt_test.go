package secrets_test

import (
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// Documented examples pass by their exact value. One other character, or a
// real token beside them, and they are what they look like.
func TestDocumentedExamplesPassAndNothingLikeThem(t *testing.T) {
	s := secrets.New()
	for i, example := range secretstest.Documented() {
		if f := s.Scan([]byte("The manual shows " + example + " here.")); len(f) > 0 {
			t.Errorf("example %d: %s", i, f[0].Rule)
		}
		changed := []byte(example)
		at := len(changed) - 3
		changed[at] = 'A' + (changed[at]|0x20-'a'+7)%26
		if string(changed) != example && len(s.Scan(changed)) == 0 {
			t.Errorf("example %d with another character passes", i)
		}
		token := secretstest.Generate("npm-token", seeded(uint64(i)))
		if len(s.Scan([]byte(example+" "+token))) == 0 {
			t.Errorf("example %d hides a token beside it", i)
		}
	}
}
