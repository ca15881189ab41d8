package mcptools_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/internal/problem"
)

// A memory is an agent that keeps everything in a list. Text with the word
// hush counts as a secret. What is not overridden here must not be called.
type memory struct {
	api.Agent
	mu     sync.Mutex
	events []event.Event // as saved, oldest first
	asked  []api.Query
	answer *api.Answer // what Ask and Log give instead of looking
	status api.Status
	report api.Report
	hook   func(context.Context) // runs inside every call
}

func (m *memory) enter(ctx context.Context) {
	if m.hook != nil {
		m.hook(ctx)
	}
}

func (m *memory) Remember(ctx context.Context, d api.Draft) (api.Receipt, error) {
	m.enter(ctx)
	if err := ctx.Err(); err != nil {
		return api.Receipt{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.Contains(d.Payload.Body(), "hush") {
		return api.Receipt{}, &problem.Problem{Code: problem.Secret, Message: "the text holds a secret: nothing was saved", Rule: "hush-rule", Field: "payload.content", Hint: "take it out and save again"}
	}
	if o, ok := d.Payload.(*event.Observe); ok && o.Summary == "" {
		o.Summary, _, _ = strings.Cut(o.Content, "\n")
	}
	e := eventtest.Of(d.Payload)
	e.Project, e.Tags, e.Parent = d.Project, append([]string{}, d.Tags...), d.Parent
	if e.Actor = d.Actor; d.Space != "" {
		e.Space = d.Space
	}
	e.Actor.Device = eventtest.Device("laptop")
	for _, old := range m.events {
		if old.Kind == e.Kind && old.Payload.Title() == e.Payload.Title() && old.Payload.Body() == e.Payload.Body() {
			return api.Receipt{ID: old.ID, Space: old.Space, Kind: old.Kind, Commit: "c0ffee", State: api.Indexed, Duplicate: true}, nil
		}
	}
	m.events = append(m.events, e)
	return api.Receipt{ID: e.ID, Space: e.Space, Kind: e.Kind, Commit: "c0ffee", State: api.Indexed}, nil
}

func hitOf(e event.Event) api.Hit {
	at := event.NewTime(e.ID.Time())
	return api.Hit{
		ID: e.ID, Space: e.Space, Kind: e.Kind, Title: e.Payload.Title(), Text: e.Payload.Body(), Snippet: e.Payload.Body(), Tags: e.Tags,
		Score: 1.23456789, Recorded: at, Observed: at, Harness: e.Actor.Harness, Device: "laptop", Actor: e.Actor.ID, Project: e.Project, State: api.Live,
	}
}

func (m *memory) find(ctx context.Context, q api.Query, match func(event.Event) bool) (api.Answer, error) {
	m.enter(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, q)
	if m.answer != nil {
		return *m.answer, nil
	}
	a := api.Answer{Query: q.Text, TookUS: 5}
	for _, e := range slices.Backward(m.events) {
		if match(e) {
			a.Hits = append(a.Hits, hitOf(e))
		}
	}
	a.Total = len(a.Hits)
	return a, ctx.Err()
}

func (m *memory) Ask(ctx context.Context, q api.Query) (api.Answer, error) {
	return m.find(ctx, q, func(e event.Event) bool { return strings.Contains(e.Payload.Body(), q.Text) })
}

func (m *memory) Log(ctx context.Context, q api.Query) (api.Answer, error) {
	return m.find(ctx, q, func(event.Event) bool { return true })
}

func (m *memory) Show(ctx context.Context, ref string, _ bool) (api.Shown, error) {
	m.enter(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if strings.HasSuffix(string(e.ID), strings.TrimPrefix(ref, "~")) {
			raw, err := event.Encode(e)
			return api.Shown{Raw: raw, Hit: hitOf(e), Commit: "c0ffee", State: api.Live, Signature: "none", Device: "laptop"}, err
		}
	}
	return api.Shown{}, problem.New(problem.NotFound, "no memory has that id")
}

func (m *memory) Digest(_ context.Context, max int) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, e := range m.events {
		if line := "- " + e.ID.Short() + " " + e.Payload.Title() + "\n"; b.Len()+len(line) <= max {
			b.WriteString(line)
		}
	}
	return b.String(), nil
}

func (m *memory) Status(context.Context) (api.Status, error) { return m.status, nil }

func (m *memory) Doctor(context.Context, bool) (api.Report, error) { return m.report, nil }

// last is the newest event.
func (m *memory) last() event.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[len(m.events)-1]
}
