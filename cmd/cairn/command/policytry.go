package command

import (
	"context"
	"errors"
	"fmt"

	"cairn/hub"
	"cairn/policy/rules"
)

// tryBeforePush says on standard error what a file would change about the events
// that are there. It never keeps the file from being pushed: history does not
// change with a policy.
func (a *app) tryBeforePush(ctx context.Context, src []byte, data string) error {
	file, err := rules.Parse(src)
	if err != nil {
		return nil // the desk says so, and pushes nothing
	}
	spaces, source := a.syncedSpaces, a.replica
	if data != "" {
		spaces, source = hubSpaces(data, hub.Options{Log: a.logger()}), a.hubFolder(data)
	}
	names, err := spaces(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		t, err := testPolicy(ctx, file, name, source)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.env.Stderr, "%s: of %s %d would be refused that pass now, %d would pass that are refused now\n",
			name, events(t.Events), len(t.NewlyRefused), len(t.NewlyAllowed))
	}
	return nil
}

// syncedSpaces are those of this machine that the hub has too.
func (a *app) syncedSpaces(ctx context.Context) ([]string, error) {
	agent, done, err := a.agent(ctx, needHome)
	if err != nil {
		return nil, err
	}
	defer done()
	remotes, err := agent.Remotes(ctx)
	var names []string
	for _, r := range remotes {
		if r.Hub {
			names = append(names, r.Space)
		}
	}
	return names, err
}

// hubSpaces are the shared spaces of a hub, on its own machine.
func hubSpaces(data string, o hub.Options) func(context.Context) ([]string, error) {
	return func(ctx context.Context) (names []string, err error) {
		h, err := hub.Open(data, o)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, h.Close()) }()
		list, err := h.Admin().ListSpaces(ctx)
		for _, s := range list.Spaces {
			names = append(names, s.Name)
		}
		return names, err
	}
}
