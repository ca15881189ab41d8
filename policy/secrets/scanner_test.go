package secrets_test

import (
	"math/rand/v2"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func finds(fs []secrets.Finding, rule string) bool {
	for _, f := range fs {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// A value that a person could have chosen may look like words by chance; a
// token of a fixed form may not.
func TestEveryRuleFindsEveryFormOfItsKind(t *testing.T) {
	s := secrets.New()
	for _, rule := range secrets.Rules() {
		found, made := 0, 0
		for seed := range uint64(5) {
			for _, secret := range secretstest.Forms(rule.ID, seeded(seed)) {
				made++
				if finds(s.Scan([]byte(secret)), rule.ID) {
					found++
				}
			}
		}
		if made == 0 || found*1000 < made*990 {
			t.Errorf("%s finds %d of %d", rule.ID, found, made)
		}
	}
}
