package aitools

import (
	"path/filepath"

	"cairn/installers/aitools/splice"
)

// codex is OpenAI's Codex CLI.
//
// https://developers.openai.com/codex/config-reference, /codex/hooks, /codex/guides/agents-md
type codex struct{}

func (codex) ID() string   { return "codex" }
func (codex) Name() string { return "Codex" }

func (t codex) Layout(env Env) (Layout, error) {
	home, err := env.dir("CODEX_HOME", ".codex")
	if err != nil {
		return Layout{}, err
	}
	dir, err := env.base("CODEX_HOME", ".codex")
	if err != nil {
		return Layout{}, err
	}
	server := Part{Role: Server, Path: filepath.Join(dir, "config.toml"), Perm: configPerm, Entry: splice.Entry{
		Format: splice.TOML, Path: []string{"mcp_servers", "cairn"}, Value: serverMap(env, t.ID()), Ours: isServer(env),
	}}
	if env.Project != "" {
		server.Note = "Codex reads a project's .codex directory only if you trust the project."
	}
	hook := jsonHook(t.ID(), filepath.Join(dir, "hooks.json"), commandHook(env, t.ID()), "hooks", "SessionStart")
	hook.Note = "Codex runs the hook only after you have trusted it: open /hooks in Codex and review it."
	return Layout{
		Home:     home,
		Programs: []string{"codex"},
		Parts:    []Part{server, hook, instructionBlock(filepath.Join(t.docs(env, dir), "AGENTS.md"))},
	}, nil
}

func (codex) docs(env Env, dir string) string {
	if env.Project != "" {
		return env.Project
	}
	return dir
}
