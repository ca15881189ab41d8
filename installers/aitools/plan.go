package aitools

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cairn/installers/aitools/splice"
)

// Plan says what has to change to connect the tools, one Change a file, those that are as they should be included. It reads
// only. Where a file cannot be edited safely, its Change says Manual or carries Refusals, and the error is the *ManualErrors,
// joined; the other changes can be applied all the same. With any other error there are no changes.
func Plan(env Env, tools ...Tool) ([]Change, error) {
	p, err := newPlanner(env)
	if err != nil {
		return nil, err
	}
	u := use{project: env.Project}
	for _, tool := range tools {
		layout, err := tool.Layout(env)
		if err != nil {
			return nil, fmt.Errorf("connect %s: %w", tool.Name(), err)
		}
		u.tools = append(u.tools, tool.ID())
		for _, part := range layout.Parts {
			if err := p.connect(part); err != nil {
				return nil, fmt.Errorf("connect %s: %w", tool.Name(), err)
			}
		}
	}
	return p.changes(u)
}

// PlanRemove says what has to change to disconnect the tools, in the form of Plan. Without a project in env it takes in the
// projects that the tools were connected for. With one, what a tool has outside of the project stays as long as the tool is
// connected for something else. Text that several tools read stays while one of them is connected.
func PlanRemove(env Env, tools ...Tool) ([]Change, error) {
	p, err := newPlanner(env)
	if err != nil {
		return nil, err
	}
	u := use{project: env.Project, remove: true}
	for _, tool := range tools {
		u.tools = append(u.tools, tool.ID())
		for _, scope := range p.scopes(tool) {
			if err := p.disconnectTool(scope, tool, tools); err != nil {
				return nil, fmt.Errorf("disconnect %s: %w", tool.Name(), err)
			}
		}
	}
	return p.changes(u)
}

// scopes are the environments in which a tool may be connected: the one asked for, and the projects in the ledger if none
// was named.
func (p *planner) scopes(tool Tool) []Env {
	scopes := []Env{p.env}
	if p.env.Project != "" {
		return scopes
	}
	for _, project := range p.ledger.Scopes[tool.ID()] {
		if project != "" {
			scope := p.env
			scope.Project = project
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

func (p *planner) disconnectTool(env Env, tool Tool, leaving []Tool) error {
	layout, err := tool.Layout(env)
	if err != nil {
		return err
	}
	shared, err := p.readByOthers(env, leaving)
	if err != nil {
		return err
	}
	// The last inserted comes out first: an insertion may stand on the one before it.
	for _, part := range slices.Backward(layout.Parts) {
		if shared[part.key()] || p.neededElsewhere(env, tool, part) {
			continue
		}
		if err := p.disconnect(part); err != nil {
			return err
		}
	}
	return nil
}

// neededElsewhere tells whether a part lies outside of the only project that a tool is to be disconnected from, while the tool
// is connected for something else. Some tools keep in one place what they know of all projects.
func (p *planner) neededElsewhere(env Env, tool Tool, part Part) bool {
	if p.env.Project == "" || strings.HasPrefix(part.Path, env.Project+string(filepath.Separator)) {
		return false
	}
	return slices.ContainsFunc(p.ledger.Scopes[tool.ID()], func(scope string) bool { return scope != env.Project })
}

// readByOthers lists the parts that tools outside leaving have, as far as those tools are connected.
func (p *planner) readByOthers(env Env, leaving []Tool) (map[string]bool, error) {
	shared := map[string]bool{}
	for _, other := range All() {
		if slices.ContainsFunc(leaving, func(t Tool) bool { return t.ID() == other.ID() }) {
			continue
		}
		layout, err := other.Layout(env)
		if err != nil {
			continue // that tool's own settings are at fault; it cannot be connected by them
		}
		connected, err := p.connected(layout)
		if err != nil {
			return nil, err
		}
		for _, part := range layout.Parts {
			shared[part.key()] = shared[part.key()] || connected
		}
	}
	return shared, nil
}

// connected tells whether the tool's server entry is there.
func (p *planner) connected(layout Layout) (bool, error) {
	for _, part := range layout.Parts {
		if part.Role != Server {
			continue
		}
		d, err := p.draft(part)
		if err != nil {
			return false, err
		}
		state, err := d.state(part)
		return err == nil && state != splice.Absent && state != splice.Foreign, nil
	}
	return false, nil
}

// changes closes the drafts, in the order in which they were opened.
func (p *planner) changes(u use) ([]Change, error) {
	var out []Change
	var refused []error
	for _, path := range p.order {
		d := p.drafts[path]
		if !d.touched {
			continue
		}
		c := d.change(u)
		out = append(out, c)
		for _, r := range c.Refusals {
			refused = append(refused, r)
		}
	}
	return out, errors.Join(refused...)
}
