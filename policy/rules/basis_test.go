package rules_test

import (
	"fmt"
	"testing"
	"time"

	"cairn/policy/rules"
)

// What a file adds to the rules about secrets and takes from them is told with
// its end: one that was moved is a difference before it has come.
func TestAMovedEndIsADifference(t *testing.T) {
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	now := func(day string) string {
		src := fmt.Sprintf("version: 1\nteam: acme\nadmins: [ana]\nsecrets:\n  off:\n    - {rule: twilio-api-key, reason: ticket numbers, by: ana, until: %s}\n", day)
		return parse(t, src).Rules(rules.Options{Now: func() time.Time { return noon }}).SecretsNow("team")
	}
	january, again := now("2027-01-01"), now("2027-01-01")
	if january != again {
		t.Error("equal files differ")
	}
	if january == now("2027-02-01") {
		t.Error("a moved end is no difference")
	}
	if now("2026-11-30") != now("2026-11-29") {
		t.Error("an end that is over still differs from another")
	}
}
