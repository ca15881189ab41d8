package aitools

import (
	"path/filepath"
	"strings"

	"cairn/installers/aitools/splice"
	"cairn/internal/disk"
)

// openClaw is the OpenClaw assistant. It has no configuration of its own in a project, so it is always connected for the
// user. A hook would have to be a JavaScript plugin; the text in its workspace has to do.
//
// https://docs.openclaw.ai/cli/mcp, /concepts/agent-workspace
type openClaw struct{}

func (openClaw) ID() string   { return "openclaw" }
func (openClaw) Name() string { return "OpenClaw" }

func (t openClaw) Layout(env Env) (Layout, error) {
	home, err := t.home(env)
	if err != nil {
		return Layout{}, err
	}
	config := filepath.Join(home, "openclaw.json")
	if file := env.getenv("OPENCLAW_CONFIG_PATH"); isAbs(env.GOOS, file) {
		config = file
	}
	server := jsonServer(env, config, serverMap(env, t.ID()), "mcp", "servers")
	server.Note = "Restart the OpenClaw gateway to make it start the server."
	workspace, err := t.workspace(env, home, config)
	if err != nil {
		return Layout{}, err
	}
	text := instructionBlock(filepath.Join(workspace, "AGENTS.md"))
	if !env.exists(workspace) {
		text.Note = "OpenClaw has no workspace yet. Start it once before you connect it, or it will leave out some of its own first files."
	}
	return Layout{Home: home, Programs: []string{"openclaw"}, Parts: []Part{server, text}}, nil
}

func (openClaw) home(env Env) (string, error) {
	user, err := env.dir("OPENCLAW_HOME")
	if err != nil {
		return "", err
	}
	name := ".openclaw"
	if profile := env.getenv("OPENCLAW_PROFILE"); profile != "" && profile != "default" {
		name += "-" + filepath.Base(profile)
	}
	env.Home = user
	return env.dir("OPENCLAW_STATE_DIR", name)
}

// workspace is where the agent lives: what the configuration says, or the environment, or the default. An agent of several
// that has a workspace of its own is not looked after.
func (t openClaw) workspace(env Env, home, config string) (string, error) {
	if dir := t.configured(env, config); dir != "" {
		return dir, nil
	}
	if env.getenv("OPENCLAW_WORKSPACE_DIR") != "" {
		return env.dir("OPENCLAW_WORKSPACE_DIR")
	}
	return filepath.Join(home, "workspace"), nil
}

// configured is empty if the configuration says nothing, or cannot be read: then the edit of it will say so.
func (openClaw) configured(env Env, config string) string {
	text, err := disk.ReadFile(env.fs(), config)
	if err != nil {
		return ""
	}
	tree, err := splice.Decode(text, splice.JSON)
	if err != nil {
		return ""
	}
	for _, key := range []string{"agents", "defaults", "workspace"} {
		table, _ := tree.(map[string]any)
		tree = table[key]
	}
	dir, _ := tree.(string)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(env.Home, rest)
	}
	if !isAbs(env.GOOS, dir) {
		return ""
	}
	return dir
}
