package rules_test

import (
	"slices"
	"testing"

	"cairn/policy/rules"
)

func TestCheckSaysWhoMayChangeThePolicy(t *testing.T) {
	s, err := rules.Check([]byte("version: 1\nteam: acme\nadmins: [ana, bob]\napprovals: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Team != "acme" || !slices.Equal(s.Admins, []string{"ana", "bob"}) || s.Approvals != 2 {
		t.Errorf("%+v", s)
	}
}
