package aitools

import (
	"path/filepath"

	"cairn/installers/aitools/splice"
)

// hermes is Nous Research's Hermes Agent. A project holds only a text for it; the rest is the user's.
//
// https://hermes-agent.nousresearch.com/docs/user-guide/features/mcp, /hooks, /context-files
type hermes struct{}

func (hermes) ID() string   { return "hermes" }
func (hermes) Name() string { return "Hermes Agent" }

func (t hermes) Layout(env Env) (Layout, error) {
	home, err := t.home(env)
	if err != nil {
		return Layout{}, err
	}
	docs := home
	if env.Project != "" {
		docs = env.Project
	}
	config := filepath.Join(home, "config.yaml")
	server := Part{Role: Server, Path: config, Perm: configPerm, Entry: splice.Entry{
		Format: splice.YAML, Path: []string{"mcp_servers", "cairn"}, Value: serverMap(env, t.ID()), Ours: isServer(env),
	}}
	hook := Part{Role: Hook, Path: config, Perm: configPerm, Entry: splice.Entry{
		Format: splice.YAML, Path: []string{"hooks", "pre_llm_call"}, Item: true, Ours: isHook(t.ID()), Value: splice.Map{
			{Key: "command", Value: hookCommand(env, t.ID())},
			{Key: "timeout", Value: hookSeconds},
		},
	}}
	hook.Note = "Hermes asks once, in a terminal, whether it may run the hook. Answer there before you use it through its gateway."
	text := instructionBlock(filepath.Join(docs, "AGENTS.md"))
	return Layout{Home: home, Programs: []string{"hermes"}, Parts: []Part{server, hook, text}}, nil
}

func (hermes) home(env Env) (string, error) {
	if local := env.getenv("LOCALAPPDATA"); env.GOOS == "windows" && local != "" && env.getenv("HERMES_HOME") == "" {
		return filepath.Join(local, "hermes"), nil
	}
	return env.dir("HERMES_HOME", ".hermes")
}
