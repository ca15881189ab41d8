package rules_test

import (
	"testing"

	"cairn/policy/rules"
)

// All that takes time is done once, when a file is read: from then on as many
// may judge by it as like, each with a clock and key of its own.
func TestAFileThatWasReadIsReady(t *testing.T) {
	f, err := rules.Parse(largest(t))
	if err != nil {
		t.Fatal(err)
	}
	const few = 50 // of patterns there are 200
	if n := testing.AllocsPerRun(10, func() { f.Rules(rules.Options{}) }); n > few {
		t.Errorf("making rules of a file that was read takes %.0f pieces of memory", n)
	}
}
