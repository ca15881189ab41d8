package aitools

import (
	"fmt"

	"cairn/installers/aitools/splice"
)

// A Status is how things stand with one tool.
type Status struct {
	Tool      string // its ID
	Name      string
	Installed bool // its directory or its program was found
	Connected bool // its server entry is there and says what it should
	Files     []FileStatus
}

// A FileStatus is how things stand with one part of a connection.
type FileStatus struct {
	Path  string
	Role  Role
	State string // "missing", "connected", "outdated", "edited", "foreign" or "unreadable"
}

var stateWords = map[splice.State]string{
	splice.Absent: "missing", splice.Current: "connected", splice.Outdated: "outdated", splice.Edited: "edited", splice.Foreign: "foreign",
}

// Detect looks at all tools. It reads only.
func Detect(env Env) ([]Status, error) {
	p, err := newPlanner(env)
	if err != nil {
		return nil, err
	}
	var out []Status
	for _, tool := range All() {
		s, err := p.detect(tool)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", tool.Name(), err)
		}
		out = append(out, s)
	}
	return out, nil
}

func (p *planner) detect(tool Tool) (Status, error) {
	layout, err := tool.Layout(p.env)
	if err != nil {
		return Status{}, err
	}
	s := Status{Tool: tool.ID(), Name: tool.Name(), Installed: p.env.uses(layout)}
	for _, part := range layout.Parts {
		d, err := p.draft(part)
		if err != nil {
			return Status{}, err
		}
		state, err := d.state(part)
		word := stateWords[state]
		if err != nil {
			word = "unreadable"
		}
		s.Files = append(s.Files, FileStatus{Path: part.Path, Role: part.Role, State: word})
		s.Connected = s.Connected || part.Role == Server && word == "connected"
	}
	return s, nil
}
