package secrets_test

import (
	"strings"
	"testing"

	"cairn/policy/secrets"
	"cairn/policy/secrets/secretstest"
)

// A test of recall is worth something only if it notices that a view is gone.
func TestEveryViewIsNeeded(t *testing.T) {
	needed := map[string]string{
		"folded": "full width", "unescaped": "hex escapes", "quoted-printable": "quoted-printable", "joined": "plus", "decoded": "base64",
		"inflated": "gzip", "UTF-16": "UTF-16 of full width", "tags": "tags", "selectors": "variation selectors", "numbers": "spaced hex", "reversed": "reversed", "rotated": "rotated", "spelled": "spelled", "pieces": "cells",
	}
	for view, name := range needed {
		var missed bool
		for _, evasion := range append(secretstest.Evasions(), secretstest.Obscure()...) {
			if evasion.Name != name {
				continue
			}
			text := evasion.Apply(seeded(1), secretstest.Generate("github-pat", seeded(1)))
			if len(secrets.New().Scan([]byte(text))) == 0 {
				t.Errorf("%s: not found with all views", name)
			}
			missed = missed || len(secrets.Without(view).Scan([]byte(text))) == 0
		}
		if !missed {
			t.Errorf("without the view %q the evasion %q is still found: nothing tests that view", view, name)
		}
	}
	quoted := strings.ReplaceAll(secretstest.Forms("named-value", seeded(1))[31], "\n", "\n> ")
	if len(secrets.Without("unquoted").Scan([]byte("> "+quoted))) > 0 {
		t.Error("nothing tests the view of quoted lines")
	}
}
