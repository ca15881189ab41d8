package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"cairn/policy/rules"
	"cairn/policy/secrets"
)

// largest is a file with as many patterns and exceptions as one may have, and
// hardly smaller than one may be.
func largest(tb testing.TB) []byte {
	tb.Helper()
	var text strings.Builder
	text.WriteString("version: 1\nteam: acme\nadmins: [ana]\nsecrets:\n  patterns:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "    - id: own-%d\n      match: '\\bacme%d(?:live|test)_[0-9A-Za-z_-]{30,80}\\b'\n", i, i)
		fmt.Fprintf(&text, "      like: ['acme%dlive_[0-9A-Za-z]{30}', 'acme%dtest_[0-9A-Za-z]{40}', 'acme%d(live|test)_[a-z]{80}']\n", i, i, i)
		fmt.Fprintf(&text, "      unlike: ['acme%dlive_', 'the acme%d of the team', 'acme%d-live']\n      entropy: 2\n", i, i, i)
	}
	text.WriteString("  allow:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "    - {rule: own-%d, fingerprint: %016x, reason: 'a demo key that everybody may see in the handbook', by: ana, until: 2027-06-30}\n", i%200, i)
	}
	text.WriteString("  off:\n")
	for _, r := range secrets.Rules()[:20] {
		fmt.Fprintf(&text, "    - {rule: %s, reason: none are used, by: ana, until: 2027-06-30}\n", r.ID)
	}
	if size := text.Len(); size > rules.MaxFile || size < rules.MaxFile*3/4 {
		tb.Fatalf("the file has %d bytes", size)
	}
	return []byte(text.String())
}

// BenchmarkRead is what the hub does with a file that is proposed to it, and a
// machine when it begins to judge by one.
func BenchmarkRead(b *testing.B) {
	src := largest(b)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		f, err := rules.Parse(src)
		if err != nil {
			b.Fatal(err)
		}
		f.Rules(rules.Options{})
	}
}
