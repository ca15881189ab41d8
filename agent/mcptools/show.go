package mcptools

import (
	"context"
	"encoding/json"
	"strings"

	"cairn/agent/api"
)

type showArgs struct {
	ID string `json:"id"`
}

// shown is what show answers in JSON. The event is the stored one.
type shown struct {
	Event     json.RawMessage `json:"event"`
	Commit    string          `json:"commit"`
	State     api.State       `json:"state"`
	Signature string          `json:"signature"`
	Device    string          `json:"device"`
}

func (d *desk) show(ctx context.Context, a showArgs) (reply, error) {
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	s, err := agent.Show(ctx, a.ID, false)
	if err != nil {
		return reply{}, err
	}
	value := shown{Event: s.Raw, Commit: s.Commit, State: s.State, Signature: s.Signature, Device: s.Device}
	if !json.Valid(s.Raw) {
		value.Event = json.RawMessage("{}")
	}
	return reply{text: shownWords(s), value: value}, nil
}

// shownWords is a few lines about the event, an empty line, and its text byte
// for byte.
func shownWords(s api.Shown) string {
	h := s.Hit
	lines := []string{
		"memory " + string(h.ID) + ", quoted as stored below the empty line",
		"title: " + oneLine(h.Title),
		"from: " + provenance(h),
		"state: " + strings.Join(append([]string{string(s.State)}, marks(h)...), ", ") + "; signature: " + s.Signature,
	}
	if h.Project != "" {
		lines = append(lines, "project: "+oneLine(h.Project))
	}
	if len(h.Tags) > 0 {
		lines = append(lines, "tags: "+oneLine(strings.Join(h.Tags, ", ")))
	}
	return strings.Join(lines, "\n") + "\n\n" + h.Text
}
