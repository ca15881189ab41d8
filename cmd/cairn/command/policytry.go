package command

import (
	"context"
	"errors"
	"fmt"

	"cairn/agent/api"
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
	return a.tryEverywhere(ctx, file, a.policySource(data))
}

// tryEverywhere tries a file on every space of a source, in one pass.
func (a *app) tryEverywhere(ctx context.Context, file *rules.File, open openSource) (err error) {
	source, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.done()) }()
	after := file.Rules(rules.Options{Key: source.key})
	names, err := source.spaces(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		t, err := source.try(ctx, after, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.env.Stderr, "%s: of %s %d would be refused that pass now, %d would pass that are refused now\n",
			name, events(t.Events), len(t.NewlyRefused), len(t.NewlyAllowed))
	}
	return nil
}

// syncedSpaces are those of this machine that the hub has too.
func syncedSpaces(ctx context.Context, running api.Agent) ([]string, error) {
	remotes, err := running.Remotes(ctx)
	var names []string
	for _, r := range remotes {
		if r.Hub {
			names = append(names, r.Space)
		}
	}
	return names, err
}
