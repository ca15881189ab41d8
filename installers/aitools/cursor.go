package aitools

import (
	"path/filepath"

	"cairn/installers/aitools/splice"
)

// cursor is the Cursor editor and its command line.
//
// https://cursor.com/docs/mcp, /docs/hooks, /docs/rules
type cursor struct{}

func (cursor) ID() string   { return "cursor" }
func (cursor) Name() string { return "Cursor" }

func (t cursor) Layout(env Env) (Layout, error) {
	home := filepath.Join(env.Home, ".cursor")
	dir := home
	if env.Project != "" {
		dir = filepath.Join(env.Project, ".cursor")
	}
	hooks := filepath.Join(dir, "hooks.json")
	parts := []Part{
		jsonServer(env, filepath.Join(dir, "mcp.json"), serverMap(env, t.ID()), "mcpServers"),
		{Role: Support, Path: hooks, Perm: configPerm, Common: true, Entry: splice.Entry{
			Path: []string{"version"}, Value: 1, Ours: func(any) bool { return false },
		}},
		jsonHook(t.ID(), hooks, splice.Map{{Key: "command", Value: hookCommand(env, t.ID())}}, "hooks", "sessionStart"),
	}
	if env.Project == "" {
		parts[0].Note = "Cursor takes rules for all projects from its settings only. The hook brings the rules in; " +
			"to be sure, connect each project as well (--project DIR)."
	} else {
		parts = append(parts, Part{
			Role: Instructions, Path: filepath.Join(dir, "rules", "cairn.mdc"), Perm: textPerm, Whole: cursorRuleHead + protocol,
		})
	}
	return Layout{Home: home, Programs: []string{"cursor", "cursor-agent"}, Parts: parts}, nil
}

// cursorRuleHead has the bare word true: the string "true" is taken for false, without a message.
const cursorRuleHead = "---\nalwaysApply: true\n---\n\n"
