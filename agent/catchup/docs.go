package catchup

import (
	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// docOf is an event as the index sees it. by may be nil.
func docOf(e event.Event, by embed.Embedder) search.Doc {
	d := search.Doc{
		ID: e.ID, Space: e.Space,
		Title: e.Payload.Title(), Body: e.Payload.Body(), Tags: e.Tags,
		Kind: string(e.Kind), Harness: e.Actor.Harness, Device: string(e.Actor.Device),
		Actor: e.Actor.ID, Project: e.Project,
		Recorded: e.ID.Time(),
	}
	if by != nil {
		d.Meaning = by.Embed(d.Title + "\n" + d.Body)
	}
	return d
}
