package catchup

import (
	"cairn/internal/event"
	"cairn/search"
)

// docOf is an event as the index sees it.
func docOf(e event.Event) search.Doc {
	return search.Doc{
		ID: e.ID, Space: e.Space,
		Title: e.Payload.Title(), Body: e.Payload.Body(), Tags: e.Tags,
		Kind: string(e.Kind), Harness: e.Actor.Harness, Device: string(e.Actor.Device),
		Actor: e.Actor.ID, Project: e.Project,
		Recorded: e.ID.Time(),
	}
}
