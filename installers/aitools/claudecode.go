package aitools

import (
	"path/filepath"

	"cairn/installers/aitools/splice"
)

// claudeCode is Anthropic's Claude Code. For the user it is a plugin directory, which the tool loads by itself and which is
// removed by deleting it: the tool's own file ~/.claude.json is rewritten by every running process.
//
// https://code.claude.com/docs/en/plugins, /hooks, /mcp, /memory
type claudeCode struct{}

func (claudeCode) ID() string   { return "claude-code" }
func (claudeCode) Name() string { return "Claude Code" }

func (t claudeCode) Layout(env Env) (Layout, error) {
	home, err := env.dir("CLAUDE_CONFIG_DIR", ".claude")
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Home: home, Programs: []string{"claude"}}
	if env.Project != "" {
		l.Parts = t.project(env)
		return l, nil
	}
	l.Parts = t.plugin(env, filepath.Join(home, "skills", "cairn"))
	l.Parts = append(l.Parts, t.rule(home))
	return l, nil
}

func (t claudeCode) plugin(env Env, dir string) []Part {
	whole := func(role Role, text string, name ...string) Part {
		return Part{Role: role, Path: filepath.Join(append([]string{dir}, name...)...), Perm: textPerm, Whole: text}
	}
	return []Part{
		whole(Support, splice.Show(splice.Entry{Path: nil, Value: splice.Map{
			{Key: "name", Value: "cairn"},
			{Key: "version", Value: "1.0.0"},
			{Key: "description", Value: "Memory that is shared by all AI tools and machines"},
			{Key: "author", Value: splice.Map{{Key: "name", Value: "cairn"}}},
		}}), ".claude-plugin", "plugin.json"),
		whole(Server, splice.Show(splice.Entry{Path: []string{"mcpServers", "cairn"}, Value: t.server(env)}), ".mcp.json"),
		whole(Hook, splice.Show(splice.Entry{
			Path: []string{"hooks", "SessionStart"}, Item: true, Value: commandHook(env, t.ID()),
		}), "hooks", "hooks.json"),
		whole(Instructions, skillHead+protocol, "SKILL.md"),
	}
}

const skillHead = `---
name: cairn
description: Memory shared by all AI tools and machines. Use at the start of a task to recall earlier decisions, preferences, lessons and fixes, and whenever one of these comes up to remember it.
---

`

// server asks to have the tools in view from the start; by default the model would see only their names.
func (t claudeCode) server(env Env) splice.Map {
	m := splice.Map{{Key: "type", Value: "stdio"}}
	m = append(m, serverMap(env, t.ID())...)
	return append(m, splice.Pair{Key: "alwaysLoad", Value: true})
}

func (claudeCode) rule(home string) Part {
	return Part{Role: Instructions, Path: filepath.Join(home, "rules", "cairn.md"), Perm: textPerm, Whole: protocol}
}

// project leaves the hook out of the shared settings: the path of the program is good on this machine alone.
func (t claudeCode) project(env Env) []Part {
	dir := filepath.Join(env.Project, ".claude")
	server := jsonServer(env, filepath.Join(env.Project, ".mcp.json"), t.server(env), "mcpServers")
	server.Note = "Claude Code asks once whether it may start a project's MCP servers."
	return []Part{
		server,
		jsonHook(t.ID(), filepath.Join(dir, "settings.local.json"), commandHook(env, t.ID()), "hooks", "SessionStart"),
		t.rule(dir),
	}
}
