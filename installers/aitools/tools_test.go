package aitools

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// documented is where the makers of each tool say that it looks, relative to the machine's directory.
var documented = []struct {
	tool    Tool
	project bool
	vars    func(m machine) []string
	server  string
	keys    []string
	hook    string // file; empty if the tool has none
	text    string
}{
	{claudeCode{}, false, nil, "home/.claude/skills/cairn/.mcp.json", []string{"mcpServers"}, "home/.claude/skills/cairn/hooks/hooks.json", "home/.claude/rules/cairn.md"},
	{claudeCode{}, false, func(m machine) []string { return []string{"CLAUDE_CONFIG_DIR", m.path("cc")} }, "cc/skills/cairn/.mcp.json", []string{"mcpServers"}, "cc/skills/cairn/hooks/hooks.json", "cc/rules/cairn.md"},
	{claudeCode{}, true, nil, "project/.mcp.json", []string{"mcpServers"}, "project/.claude/settings.local.json", "project/.claude/rules/cairn.md"},
	{codex{}, false, nil, "home/.codex/config.toml", []string{"mcp_servers"}, "home/.codex/hooks.json", "home/.codex/AGENTS.md"},
	{codex{}, false, func(m machine) []string { return []string{"CODEX_HOME", m.path("cx")} }, "cx/config.toml", []string{"mcp_servers"}, "cx/hooks.json", "cx/AGENTS.md"},
	{codex{}, true, nil, "project/.codex/config.toml", []string{"mcp_servers"}, "project/.codex/hooks.json", "project/AGENTS.md"},
	{cursor{}, false, nil, "home/.cursor/mcp.json", []string{"mcpServers"}, "home/.cursor/hooks.json", ""},
	{cursor{}, true, nil, "project/.cursor/mcp.json", []string{"mcpServers"}, "project/.cursor/hooks.json", "project/.cursor/rules/cairn.mdc"},
	{openClaw{}, false, nil, "home/.openclaw/openclaw.json", []string{"mcp", "servers"}, "", "home/.openclaw/workspace/AGENTS.md"},
	{openClaw{}, false, func(machine) []string { return []string{"OPENCLAW_PROFILE", "work"} }, "home/.openclaw-work/openclaw.json", []string{"mcp", "servers"}, "", "home/.openclaw-work/workspace/AGENTS.md"},
	{openClaw{}, false, func(m machine) []string {
		return []string{"OPENCLAW_HOME", m.path("oh"), "OPENCLAW_WORKSPACE_DIR", m.path("ws")}
	}, "oh/.openclaw/openclaw.json", []string{"mcp", "servers"}, "", "ws/AGENTS.md"},
	{openClaw{}, true, func(machine) []string { return []string{"OPENCLAW_STATE_DIR", "~/oc"} }, "home/oc/openclaw.json", []string{"mcp", "servers"}, "", "home/oc/workspace/AGENTS.md"},
	{hermes{}, false, nil, "home/.hermes/config.yaml", []string{"mcp_servers"}, "home/.hermes/config.yaml", "home/.hermes/AGENTS.md"},
	{hermes{}, true, func(m machine) []string { return []string{"HERMES_HOME", m.path("hm")} }, "hm/config.yaml", []string{"mcp_servers"}, "hm/config.yaml", "project/AGENTS.md"},
}

func TestServerHookAndTextAreWhereTheToolLooks(t *testing.T) {
	t.Parallel()
	for _, c := range documented {
		t.Run(strings.ReplaceAll(c.server, "/", "_"), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, t.TempDir())
			if c.vars != nil {
				m = m.with(c.vars(m)...)
			}
			if c.project {
				m = m.inProject()
			}
			m.connect(c.tool)

			servers := m.decode(c.server)
			for _, key := range c.keys {
				servers, _ = servers[key].(map[string]any)
			}
			server, _ := servers["cairn"].(map[string]any)
			if server["command"] != any(m.env.Binary) || !reflect.DeepEqual(server["args"], []any{"mcp", "--client", c.tool.ID()}) {
				t.Errorf("the server is %v", server)
			}
			if want := "'" + m.env.Binary + "' hook session-start --client " + c.tool.ID(); c.hook != "" && !hasString(m.decode(c.hook)["hooks"], want) {
				t.Errorf("no hook %q in %s", want, m.read(c.hook))
			}
			if c.text != "" && !strings.Contains(m.read(c.text), strings.TrimSpace(Protocol())) {
				t.Errorf("the text is not in %s", m.read(c.text))
			}
		})
	}
}

func TestAMemoryInAnotherPlaceIsNamedToTheTool(t *testing.T) {
	t.Parallel()
	for _, c := range documented {
		if c.vars != nil {
			continue
		}
		t.Run(strings.ReplaceAll(c.server, "/", "_"), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, t.TempDir())
			m.env.CairnHome = m.path("my memory")
			if c.project {
				m = m.inProject()
			}
			before := m.tree()
			m.connect(c.tool)
			args := []any{"mcp", "--home", m.env.CairnHome, "--client", c.tool.ID()}
			servers := m.decode(c.server)
			for _, key := range c.keys {
				servers, _ = servers[key].(map[string]any)
			}
			if server, _ := servers["cairn"].(map[string]any); !reflect.DeepEqual(server["args"], args) {
				t.Errorf("the server is %v", server)
			}
			want := "'" + m.env.Binary + "' --home '" + m.env.CairnHome + "' hook session-start --client " + c.tool.ID()
			if c.hook != "" && !hasString(m.decode(c.hook)["hooks"], want) {
				t.Errorf("no hook %q in %s", want, m.read(c.hook))
			}
			m.disconnect(c.tool)
			m.sameTree("disconnected", before)
		})
	}
}

// decode reads a file with the parser that a tool would use, not with ours.
func (m machine) decode(name string) map[string]any {
	m.t.Helper()
	var out map[string]any
	var err error
	switch text := []byte(m.read(name)); filepath.Ext(name) {
	case ".toml":
		err = toml.Unmarshal(text, &out)
	case ".yaml":
		err = yaml.Unmarshal(text, &out)
	default:
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func hasString(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return v == want
	case map[string]any:
		for _, value := range v {
			if hasString(value, want) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if hasString(item, want) {
				return true
			}
		}
	}
	return false
}

func TestOpenClawsWorkspaceMayLieElsewhere(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.openclaw/openclaw.json", "// mine\n{agents: {defaults: {workspace: '~/claw'}}}\n")
	m.write("home/claw/AGENTS.md", "# Me\n")
	before := m.tree()
	m.connect(openClaw{})
	if !strings.Contains(m.read("home/claw/AGENTS.md"), "cairn:begin") {
		t.Error("the text is not in the workspace")
	}
	m.disconnect(openClaw{})
	m.sameTree("disconnected", before)
}

func TestWindowsPathsSurviveEveryFormat(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir()).with("LOCALAPPDATA", t.TempDir())
	m.env.GOOS, m.env.Binary = "windows", `C:\Users\Zoë K\cairn.exe`
	m.connect(All()...)
	for _, c := range documented {
		if c.project || c.vars != nil || c.tool.ID() == "hermes" {
			continue
		}
		if text := m.read(c.server); !hasString(m.decode(c.server), m.env.Binary) {
			t.Errorf("%s: %s", c.server, text)
		}
		if want := `"C:/Users/Zoë K/cairn.exe" hook session-start --client ` + c.tool.ID(); c.hook != "" && !hasString(m.decode(c.hook), want) {
			t.Errorf("%s: %s", c.hook, m.read(c.hook))
		}
	}
	layout, err := hermes{}.Layout(m.env)
	if want := filepath.Join(m.env.getenv("LOCALAPPDATA"), "hermes"); err != nil || layout.Home != want {
		t.Errorf("Hermes lives in %s, %v, want %s", layout.Home, err, want)
	}
}

func TestNothingRelativeReachesATool(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	for what, spoil := range map[string]func(*Env){
		"program":       func(e *Env) { e.Binary = "cairn" },
		"tilde":         func(e *Env) { e.Binary = "~/bin/cairn" },
		"line end":      func(e *Env) { e.Binary = "/bin/ca\nirn" },
		"project":       func(e *Env) { e.Project = "." },
		"home":          func(e *Env) { e.Home = "" },
		"tool's folder": func(e *Env) { e.Getenv = func(string) string { return "x" } },
		"Windows drive": func(e *Env) { e.GOOS, e.Binary = "windows", `\cairn.exe` },
	} {
		env := m.env
		spoil(&env)
		if changes, err := Plan(env, codex{}); err == nil {
			t.Errorf("%s: planned %s", what, actions(changes))
		}
	}
}

func TestProtocolFitsEveryTool(t *testing.T) {
	t.Parallel()
	text := strings.ToLower(Protocol())
	if len(text) > 1800 {
		t.Errorf("the text has %d bytes", len(text))
	}
	for _, word := range []string{"recall", "remember", "revise"} {
		if !strings.Contains(text, word) {
			t.Errorf("the text does not say %s", word)
		}
	}
	// Hermes blocks a file with words that attackers use, and with comments that hide instructions.
	for _, word := range []string{"ignore", "disregard", "system prompt", "do not tell", "<!--", "curl", ".env", "\u200b"} {
		if strings.Contains(text, word) {
			t.Errorf("the text holds %q", word)
		}
	}
}

func TestByIDKnowsAllTools(t *testing.T) {
	t.Parallel()
	for _, tool := range All() {
		if got, err := ByID(tool.ID()); got != tool || err != nil {
			t.Errorf("%s: got %v, %v", tool.ID(), got, err)
		}
	}
	if _, err := ByID("vi"); !errors.Is(err, ErrUnknownTool) || !strings.Contains(err.Error(), "claude-code, codex, cursor, openclaw, hermes") {
		t.Errorf("got %v", err)
	}
}
