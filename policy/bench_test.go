package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/internal/event/eventtest"
	"cairn/policy"
)

func BenchmarkDecide(b *testing.B) { decide(b, policy.Default()) }

// BenchmarkDecideByATeam is that with two hundred patterns and exceptions.
func BenchmarkDecideByATeam(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\nteam: acme\nadmins: [ana]\nsecrets:\n  patterns:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "    - {id: own-%d, match: 'acme%d_[0-9a-z]{30}', like: 'acme%d_[0-9a-z]{30}'}\n", i, i, i)
	}
	text.WriteString("  allow:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "    - {rule: own-%d, fingerprint: 9c41d07be2a85f36, reason: x, by: ana, until: 2099-01-01}\n", i)
	}
	p, err := policy.Read(2, []byte(text.String()), []byte("the key of a team"), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	decide(b, p)
}

func decide(b *testing.B, p *policy.Policy) {
	e := eventtest.Note(strings.Repeat("The session token is rotated by the service, and no password is kept. ", 15))
	b.SetBytes(1050)
	for b.Loop() {
		if err := p.Decide(e); err != nil {
			b.Fatal(err)
		}
	}
}
