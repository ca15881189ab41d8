package rules_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cairn/policy/rules"
)

// nested stands in so many repeats, each in the next.
func nested(part, times string, levels int) string {
	return strings.Repeat("(", levels) + part + strings.Repeat(")"+times, levels)
}

// However a shape repeats itself, making a text of it ends: what a stranger's
// file asks for costs whoever reads it no more than another.
func TestAShapeThatMultipliesEnds(t *testing.T) {
	for name, c := range map[string]struct {
		like  string
		large bool // it is refused; otherwise samples only stay short
	}{
		"nested repeats":         {nested("x", "+", 30), false},
		"nested as deep as can":  {nested("x", "+", 165), true},
		"repeats of nothing":     {nested(`\b`, "*", 160), false},
		"repeats of nothing, +":  {nested(`\b`, "+", 160), true},
		"counts beside another":  {strings.Repeat("x{900}", 60), true},
		"long texts many times":  {"(" + strings.Repeat("xy", 200) + "){900}", true},
		"counts in repeats":      {nested("x{900}", "+", 100), true},
		"a shape as people mean": {"[0-9a-f]{40}", false},
	} {
		re := expression(t, "acme_"+c.like)
		r := rand.New(rand.NewPCG(1, 2))
		refused := false
		for range 20 {
			text, ok := rules.Sample(re, r)
			refused = refused || !ok
			if len(text) > 20<<10 {
				t.Errorf("%s: a text of %d bytes", name, len(text))
			}
		}
		if refused != c.large {
			t.Errorf("%s: refused %v, want %v", name, refused, c.large)
		}
		got := said([]byte("version: 1\nteam: acme\nadmins: [ana]\nsecrets: {patterns: [{id: acme-key, match: 'acme_', like: '" + re.String() + "'}]}\n"))
		if strings.Contains(got, "too large a shape") != c.large {
			t.Errorf("%s: %s", name, got)
		}
	}
}
