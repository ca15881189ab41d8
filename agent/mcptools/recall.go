package mcptools

import (
	"context"
	"time"

	"cairn/agent/api"
	"cairn/internal/event"
)

// searchArgs are the arguments of recall and of log.
type searchArgs struct {
	Query   string     `json:"query"`
	Limit   *int       `json:"limit"`
	Kind    event.Kind `json:"kind"`
	Tag     string     `json:"tag"`
	Project string     `json:"project"`
	Space   string     `json:"space"`
	Harness string     `json:"harness"`
	Device  string     `json:"device"`
	Since   string     `json:"since"`
	Until   string     `json:"until"`
	All     bool       `json:"all"`
}

const maxLimit = 50

func (a searchArgs) query(now time.Time) (api.Query, error) {
	q := api.Query{Text: a.Query, All: a.All, Filter: api.Filter{
		Space: a.Space, Kind: a.Kind, Tags: []string{a.Tag}, Harness: a.Harness, Device: a.Device, Project: a.Project,
	}}
	if a.Limit != nil {
		if *a.Limit < 1 {
			return q, wrongUse("limit", "limit must be between 1 and %d", maxLimit)
		}
		q.Limit = min(*a.Limit, maxLimit)
	}
	var err error
	if q.Filter.Since, err = momentOf("since", a.Since, now); err != nil {
		return q, err
	}
	q.Filter.Until, err = momentOf("until", a.Until, now)
	return q, err
}

func (d *desk) recall(ctx context.Context, a searchArgs) (reply, error) {
	return d.search(ctx, a, "best first", api.Agent.Ask)
}

func (d *desk) newest(ctx context.Context, a searchArgs) (reply, error) {
	return d.search(ctx, a, "newest first", api.Agent.Log)
}

func (d *desk) search(ctx context.Context, a searchArgs, order string, find func(api.Agent, context.Context, api.Query) (api.Answer, error)) (reply, error) {
	q, err := a.query(time.Now())
	if err != nil {
		return reply{}, err
	}
	agent, err := d.connect(ctx)
	if err != nil {
		return reply{}, err
	}
	answer, err := find(agent, ctx, q)
	if err != nil {
		return reply{}, err
	}
	return fitAnswer(answer, order), nil
}
