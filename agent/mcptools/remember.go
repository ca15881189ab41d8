package mcptools

import (
	"context"
	"strings"

	"cairn/agent/api"
)

func (d *desk) remember(ctx context.Context, r api.Remember) (reply, error) {
	if strings.TrimSpace(r.Text) == "" {
		return reply{}, wrongUse("text", "text is empty: there is nothing to remember")
	}
	draft, err := r.Draft(d.actor(ctx))
	if err != nil {
		return reply{}, err
	}
	return d.save(ctx, draft)
}

// save hands a draft to the agent.
func (d *desk) save(ctx context.Context, draft api.Draft) (reply, error) {
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	receipt, err := agent.Remember(ctx, draft)
	if err != nil {
		return reply{}, err
	}
	return reply{text: receiptWords(receipt), value: receipt}, nil
}

func receiptWords(r api.Receipt) string {
	switch {
	case r.Duplicate:
		return "already there as " + r.ID.Short() + " in " + r.Space + "; nothing was saved twice"
	case r.State == api.Committed:
		return "saved as " + r.ID.Short() + " in " + r.Space + "; recall finds it as soon as the index has caught up"
	default:
		return "saved as " + r.ID.Short() + " in " + r.Space
	}
}
