package policy_test

import (
	"strings"
	"testing"

	"cairn/internal/event/eventtest"
	"cairn/policy"
)

func BenchmarkDecide(b *testing.B) {
	p := policy.Default()
	e := eventtest.Note(strings.Repeat("The session token is rotated by the service, and no password is kept. ", 15))
	b.SetBytes(1050)
	for b.Loop() {
		if err := p.Decide(e); err != nil {
			b.Fatal(err)
		}
	}
}
