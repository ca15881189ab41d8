package scope_test

import (
	"errors"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/policy/scope"
)

func TestTheSpaceIsTheBoundary(t *testing.T) {
	classes := []event.Classification{event.Public, event.Private, event.Secret, "", "internal"}
	for space, allowed := range map[string]string{
		"personal": "public private", "local": "public secret", "team": "public", "personal-2": "public", "": "public",
	} {
		for _, c := range classes {
			want := c != "" && strings.Contains(allowed, string(c))
			err := scope.Allowed(space, c)
			if (err == nil) != want {
				t.Errorf("%q in %q: %v", c, space, err)
			}
			if _, ok := errors.AsType[*scope.MisplacedError](err); err != nil && !ok {
				t.Errorf("%q in %q: error %T", c, space, err)
			}
		}
	}
}

func TestTheDefaultIsAlwaysAllowed(t *testing.T) {
	for space, want := range map[string]event.Classification{
		"personal": event.Private, "local": event.Secret, "team": event.Public,
	} {
		if got := scope.Default(space); got != want {
			t.Errorf("the default in %s is %s, want %s", space, got, want)
		}
		if err := scope.Allowed(space, scope.Default(space)); err != nil {
			t.Errorf("the default in %s: %v", space, err)
		}
	}
}

func TestOnlyLocalStaysAtHome(t *testing.T) {
	for space, want := range map[string]bool{"personal": true, "team": true, "local": false} {
		if scope.MayTravel(space) != want {
			t.Errorf("%s may travel: %v", space, !want)
		}
	}
}

// What is secret can never stand in a space that travels.
func TestNoSecretTravels(t *testing.T) {
	for _, space := range []string{"personal", "local", "team", "ops", "a-b-c"} {
		if scope.Allowed(space, event.Secret) == nil && scope.MayTravel(space) {
			t.Errorf("a secret event travels in %s", space)
		}
	}
}
