package api

import (
	"strings"

	"cairn/internal/event"
	"cairn/internal/problem"
)

// Remember is what someone gives to be remembered, in the flat form of the
// MCP tool remember and of a line of an import.
type Remember struct {
	Text       string      `json:"text"`
	Title      string      `json:"title,omitempty"`
	Kind       string      `json:"kind,omitempty"` // observe (default), lesson, claim or pref
	Tags       []string    `json:"tags,omitempty"`
	Project    string      `json:"project,omitempty"`
	Space      string      `json:"space,omitempty"`
	Key        string      `json:"key,omitempty"`
	Supersedes event.ID    `json:"supersedes,omitempty"`
	Source     string      `json:"source,omitempty"`
	Observed   *event.Time `json:"observed,omitempty"`
}

// Draft is r as an event to save. The title of a lesson is its category, of a
// claim its key, of a preference its category and key with a slash between. A
// lesson that supersedes another modifies it. Errors are *problem.Problem with
// code usage.
func (r Remember) Draft(actor event.Actor) (Draft, error) {
	p, err := r.payload()
	if err != nil {
		return Draft{}, err
	}
	d := Draft{
		Space: r.Space, Payload: p, Actor: actor, Project: r.Project,
		Tags: r.Tags, Key: r.Key, Observed: r.Observed,
	}
	if l, ok := p.(*event.Lesson); ok && r.Supersedes != "" {
		l.Transition, d.Parent = event.LessonModify, r.Supersedes
	}
	return d, nil
}

func (r Remember) payload() (event.Payload, error) {
	if r.Text == "" {
		return nil, problem.New(problem.Usage, "text is missing: give what is to be remembered")
	}
	switch r.Kind {
	case "", "note", string(event.KindObserve):
		return &event.Observe{Summary: r.Title, Content: r.Text, Source: r.Source, Supersedes: r.Supersedes}, nil
	case string(event.KindLesson):
		return &event.Lesson{Category: or(r.Title, "general"), Text: r.Text, Transition: event.LessonAdd}, nil
	case string(event.KindClaim):
		if r.Title == "" {
			return nil, problem.New(problem.Usage, "title is missing: it is the key that the claim holds under")
		}
		return &event.Claim{SchemaType: "statement", Key: r.Title, Content: r.Text, Supersedes: r.Supersedes}, nil
	case string(event.KindPref):
		category, key, ok := strings.Cut(r.Title, "/")
		if !ok || category == "" || key == "" {
			return nil, problem.New(problem.Usage, "the title of a preference is CATEGORY/KEY, and text is its value")
		}
		if r.Supersedes != "" {
			return nil, problem.New(problem.Usage, "a preference takes the place of the one with its title by itself: leave supersedes out")
		}
		return &event.Pref{Category: category, Key: key, Value: r.Text}, nil
	default:
		return nil, problem.New(problem.Usage, "kind is observe, lesson, claim or pref")
	}
}

func or(v, fallback string) string {
	if v == "" {
		return fallback
	}
	return v
}
