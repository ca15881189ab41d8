package hubwire_test

import (
	"strings"
	"testing"

	"cairn/internal/hubwire"
)

func TestAPolicyMarkReadsBackAndNothingElseDoes(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for _, m := range []hubwire.PolicyMark{hubwire.BuiltIn, {Number: 2, Hash: sum}, {Number: 1000, Hash: sum}} {
		if got, ok := hubwire.ParsePolicyMark(m.String()); !ok || got != m {
			t.Errorf("%v reads back as %v", m, got)
		}
	}
	for _, s := range []string{"", "0", "2", "1:" + sum, "-3:" + sum, "02:" + sum, "2:" + sum[1:], "2:" + strings.ToUpper(sum), "2:" + sum + ":", "x:" + sum, "2: " + sum[1:]} {
		if m, ok := hubwire.ParsePolicyMark(s); ok {
			t.Errorf("%q reads as %v", s, m)
		}
	}
}

func FuzzParsePolicyMark(f *testing.F) {
	f.Add("1")
	f.Add("2:" + strings.Repeat("0a", 32))
	f.Fuzz(func(t *testing.T, s string) {
		if m, ok := hubwire.ParsePolicyMark(s); ok && m.String() != s {
			t.Fatalf("%q reads as %q", s, m)
		}
	})
}
