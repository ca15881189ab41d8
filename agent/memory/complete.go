package memory

import (
	"slices"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/scope"
)

// complete fills in what a draft leaves open. The id is that of the moment at;
// the event gets its final one, and its signature, when it is appended.
func (s *Service) complete(d api.Draft, sp *space, at time.Time) (event.Event, error) {
	if d.Payload == nil {
		return event.Event{}, problem.New(problem.Usage, "nothing to save: give a text")
	}
	e := event.Event{
		Schema: event.Schema, ID: event.NewID(at), Kind: d.Payload.Kind(), Space: sp.name, Ref: event.MainRef,
		Actor: completeActor(d.Actor, s.key.Load().ID()), Layer: d.Layer, Classification: d.Classification,
		Project: d.Project, Tags: cleanTags(d.Tags), Key: d.Key, Policy: s.opt.Policy(sp.name),
		Parent: d.Parent, Chain: d.Chain, Observed: event.NewTime(at),
	}
	if d.Observed != nil {
		e.Observed = event.NewTime(d.Observed.Time)
	}
	if e.Layer == "" {
		e.Layer = e.Kind.Layer()
	}
	if e.Classification == "" {
		e.Classification = scope.Default(sp.name)
	}
	e.Authority = completeAuthority(d, e.Actor)
	e.Payload = completePayload(d.Payload, e.Observed)
	if err := s.resolveRefs(sp, &e); err != nil {
		return event.Event{}, err
	}
	e.Subject = e.Payload.Subject()
	if e.Key == "" {
		e.Key = projection.Key(e)
	}
	return e, e.Validate()
}

func completeActor(a event.Actor, device event.DeviceID) event.Actor {
	a.Device = device
	if a.Kind == "" {
		a.Kind = event.ActorHuman
		if a.Harness != "" {
			a.Kind = event.ActorAgent
		}
	}
	if a.ID == "" {
		a.ID = a.Harness
	}
	if a.ID == "" {
		a.ID = string(a.Kind)
	}
	return a
}

// completeAuthority: a human's word is the user's, an import rests on itself.
func completeAuthority(d api.Draft, a event.Actor) event.Authority {
	switch {
	case d.Authority != nil:
		return *d.Authority
	case d.Historic:
		return event.Authority{Source: "import"}
	case a.Kind == event.ActorHuman:
		return event.Authority{Source: "user"}
	default:
		return event.Authority{Source: string(a.Kind)}
	}
}

func cleanTags(tags []string) []string {
	out := []string{}
	for _, t := range tags {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// completePayload returns a copy of p with nothing left open. A preference's
// former value is not copied into it: redacting the former event would leave
// its text there.
func completePayload(p event.Payload, observed event.Time) event.Payload {
	switch p := p.(type) {
	case *event.Observe:
		c := *p
		c.Summary = completeTitle(c.Summary, c.Content)
		return &c
	case *event.Claim:
		c := *p
		c.SupportRefs = append([]event.Support{}, c.SupportRefs...)
		for i := range c.SupportRefs {
			if c.SupportRefs[i].NotedAt.IsZero() {
				c.SupportRefs[i].NotedAt = observed
			}
		}
		if c.SchemaType == "" {
			c.SchemaType = "statement"
		}
		return &c
	case *event.Lesson:
		c := *p
		if c.Transition == "" {
			c.Transition = event.LessonAdd
		}
		return &c
	case *event.Redact:
		c := *p
		c.RedactedSpans = append([]event.Span{}, c.RedactedSpans...)
		return &c
	default:
		return copyPayload(p)
	}
}

func copyPayload(p event.Payload) event.Payload {
	switch p := p.(type) {
	case *event.Verify:
		c := *p
		return &c
	case *event.Archive:
		c := *p
		return &c
	default:
		return p // nothing of the others is changed
	}
}
