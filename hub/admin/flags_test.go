package admin_test

import (
	"flag"
	"regexp"
	"slices"
	"testing"

	"cairn/hub/admin"
)

// verbs are those that people give with "cairn hub".
var verbs = []string{"invite", "devices", "revoke", "grant", "spaces", "status", "purge", "policy", "audit"}

// Whoever reads a verb's help finds each flag of its form there, and no other,
// with what it means.
func TestEachFlagOfAFormIsExplained(t *testing.T) {
	for _, verb := range verbs {
		form, flags := admin.Usage(verb)
		if form == "" {
			t.Errorf("%s has no form", verb)
		}
		var inForm, explained []string
		for _, m := range regexp.MustCompile(`(?:^|[ \[])--?([a-z]+)`).FindAllStringSubmatch(form, -1) {
			inForm = append(inForm, m[1])
		}
		flags.VisitAll(func(f *flag.Flag) {
			explained = append(explained, f.Name)
			if f.Usage == "" {
				t.Errorf("%s: --%s is not explained", verb, f.Name)
			}
		})
		slices.Sort(inForm)
		if !slices.Equal(inForm, explained) {
			t.Errorf("%s: the form names %q, explained are %q", form, inForm, explained)
		}
	}
	if form, _ := admin.Usage("nosuch"); form != "" {
		t.Errorf("a verb that is none takes %q", form)
	}
}
