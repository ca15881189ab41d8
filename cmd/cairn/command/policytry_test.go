package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/policy"
	"cairn/policy/rules"
)

// counted is a source of two spaces that writes down what is asked of it.
type counted struct {
	asked  []string
	broken bool
}

func (c *counted) open(context.Context) (policySource, error) {
	c.asked = append(c.asked, "open")
	return policySource{
		before: policy.Default(),
		spaces: func(context.Context) ([]string, error) { return []string{"docs", "team"}, nil },
		each: func(_ context.Context, space string, fn func([]byte) error) error {
			c.asked = append(c.asked, space)
			if c.broken {
				return errors.New("the disk is gone")
			}
			stored, err := event.Encode(eventtest.Note("hello"))
			if err != nil {
				return err
			}
			return fn(stored)
		},
		done: func() error { c.asked = append(c.asked, "done"); return nil },
	}, nil
}

// Before a push a hub or a replica is opened once, however many spaces there
// are, and closed again whatever happens.
func TestAFileIsTriedOnAllSpacesInOnePass(t *testing.T) {
	file, err := rules.Parse([]byte("version: 1\nteam: acme\nadmins: [ana]\nkinds: [claim]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		broken bool
		asked  []string
		said   string
	}{
		{false, []string{"open", "docs", "team", "done"}, "docs: of 1 event 1 would be refused"},
		{true, []string{"open", "docs", "done"}, ""},
	} {
		var said strings.Builder
		a := &app{env: Env{Stderr: &said}}
		source := &counted{broken: c.broken}
		if err := a.tryEverywhere(t.Context(), file, source.open); (err != nil) != c.broken {
			t.Errorf("broken %v: %v", c.broken, err)
		}
		if !slices.Equal(source.asked, c.asked) || !strings.Contains(said.String(), c.said) {
			t.Errorf("asked for %q, want %q; said %q", source.asked, c.asked, said.String())
		}
	}
}
