package mcptools

import (
	"context"
	"errors"
	"strings"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

type reviseArgs struct {
	ID      string        `json:"id"`
	Action  string        `json:"action"`
	Text    string        `json:"text"`
	Reason  string        `json:"reason"`
	Verdict event.Verdict `json:"verdict"`
}

// supersede is the one action of revise that needs a text.
const supersede = "supersede"

func (d *desk) revise(ctx context.Context, a reviseArgs) (reply, error) {
	if a.Action == supersede && strings.TrimSpace(a.Text) == "" {
		return reply{}, wrongUse("text", "supersede needs text: the new text, complete")
	}
	if a.Action == "redact" && a.why() == "" {
		return reply{}, wrongUse("reason", "redact needs a reason; do not repeat in it what is to be hidden")
	}
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	old, err := agent.Show(ctx, a.ID, false)
	if err != nil {
		return reply{}, err
	}
	draft, err := a.draft(old)
	if err != nil {
		return reply{}, err
	}
	draft.Actor = d.actor(ctx)
	r, err := d.save(ctx, draft)
	if err == nil && a.Action == supersede && a.Reason != "" {
		r.text += "; the reason was not kept, a superseding memory says it in its text"
	}
	return r, err
}

// why is the reason, in whichever of the two it was given.
func (a reviseArgs) why() string {
	if a.Reason != "" {
		return a.Reason
	}
	return a.Text
}

// draft is the event that revises old, in the same space.
func (a reviseArgs) draft(old api.Shown) (api.Draft, error) {
	draft := api.Draft{Space: old.Hit.Space, Project: old.Hit.Project}
	target := old.Hit.ID
	switch a.Action {
	case supersede:
		return a.successor(old)
	case event.DirectionArchive, event.DirectionRestore:
		draft.Payload = &event.Archive{Target: target, Direction: a.Action, Reason: a.why()}
	case "redact":
		draft.Payload = &event.Redact{Target: target, Reason: a.why()}
	case "verify":
		verdict := a.Verdict
		if verdict == "" {
			verdict = event.Confirmed
		}
		draft.Payload = &event.Verify{Target: target, Attestation: a.why(), Verdict: verdict}
	}
	return draft, nil
}

// successor is an event of the same kind that takes the place of old.
func (a reviseArgs) successor(old api.Shown) (api.Draft, error) {
	if old.State == api.Redacted {
		return api.Draft{}, problem.New(problem.Usage, "that memory is redacted and stays so: remember the new text by itself")
	}
	e, err := event.Decode(old.Raw)
	if newer, ok := errors.AsType[*event.NewerSchemaError](err); ok {
		return api.Draft{}, &problem.Problem{Code: problem.NewerSchema, Message: newer.Error(), Err: err}
	}
	if err != nil {
		return api.Draft{}, &problem.Problem{Code: problem.Corrupt, Message: "that memory cannot be read: nothing was changed", Hint: "call doctor", Err: err}
	}
	draft := api.Draft{Space: e.Space, Project: e.Project, Tags: e.Tags, Classification: e.Classification}
	switch p := e.Payload.(type) {
	case *event.Observe:
		draft.Payload = &event.Observe{Content: a.Text, Source: p.Source, Supersedes: e.ID}
	case *event.Claim:
		draft.Payload = &event.Claim{SchemaType: p.SchemaType, Key: p.Key, Content: a.Text, Supersedes: e.ID}
	case *event.Lesson:
		draft.Payload, draft.Parent = &event.Lesson{Category: p.Category, Text: a.Text, Transition: event.LessonModify}, e.ID
	case *event.Pref:
		draft.Payload = &event.Pref{Category: p.Category, Key: p.Key, Value: a.Text}
	default:
		return api.Draft{}, problem.New(problem.Usage, "a memory of kind "+string(e.Kind)+" has no text to supersede: remember the new text by itself")
	}
	return draft, nil
}
