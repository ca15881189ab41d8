package aitools

import (
	"errors"
	"os"
	"strings"
	"testing"

	"cairn/installers/aitools/splice"
)

func TestWhatCannotBeEditedSafelyIsLeftToAPerson(t *testing.T) {
	t.Parallel()
	const own = `{"mcpServers":{"cairn":{"command":"/x/cairn","args":["mcp","--client","cursor"],"env":{"A":"b"}}}}`
	cases := []struct {
		name, file, text string
		tool             Tool
		snippet          string
	}{
		{"byte order mark", "home/.cursor/mcp.json", "\xEF\xBB\xBF{}", cursor{}, `"mcpServers": {`},
		{"not JSON", "home/.cursor/mcp.json", "{\n  \"a\": ,\n}", cursor{}, `"mcpServers": {`},
		{"another server called cairn", "home/.cursor/mcp.json", `{"mcpServers":{"cairn":{"command":"/bin/weather"}}}`, cursor{}, `"mcpServers": {`},
		{"ours, extended by hand", "home/.cursor/mcp.json", own, cursor{}, `"mcpServers": {`},
		{"table closed by its braces", "home/.codex/config.toml", "mcp_servers = { a = { command = 'a' } }\n", codex{}, "[mcp_servers.cairn]"},
		{"key twice", "home/.hermes/config.yaml", "a: 1\na: 2\n", hermes{}, "mcp_servers:\n  cairn:"},
		{"a rule of that name", "home/.claude/rules/cairn.md", "Build cairns of stone.\n", claudeCode{}, "# Shared memory"},
		{"markers that do not pair", "home/.codex/AGENTS.md", "<!-- cairn:begin v1 -->\n", codex{}, "<!-- cairn:end -->"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, t.TempDir())
			m.write(c.file, c.text)
			changes, err := Plan(m.env, c.tool)
			r := refusal(t, err)
			if r.Path != m.path(c.file) || !strings.Contains(r.Snippet, c.snippet) || !strings.Contains(err.Error(), "by hand") {
				t.Errorf("got %v", err)
			}
			m.apply(changes)
			if got := m.read(c.file); got != c.text {
				t.Errorf("the file became %q", got)
			}
			for _, change := range changes {
				if (change.Path == m.path(c.file)) != (change.Action == Manual) {
					t.Errorf("%s: %s", change.Path, change.Action)
				}
			}
		})
	}
}

func TestOnePartLeftToAPersonDoesNotStopTheOther(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.hermes/config.yaml", "mcp_servers: null\nhooks: {}\n")
	before := m.tree()
	changes, err := Plan(m.env, hermes{})
	refusal(t, err)
	m.apply(changes)
	if got := m.read("home/.hermes/config.yaml"); !strings.Contains(got, "pre_llm_call") || !strings.HasPrefix(got, "mcp_servers: null\n") {
		t.Errorf("got %s", got)
	}
	m.disconnect(hermes{})
	m.sameTree("disconnected", before)
}

func TestAnEditedFileOfOursIsNotDeleted(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.connect(claudeCode{})
	m.write("home/.claude/rules/cairn.md", "my own words\n")
	changes, err := PlanRemove(m.env, claudeCode{})
	r := refusal(t, err)
	if !strings.Contains(r.Error(), "changed by hand") || !strings.Contains(r.Error(), "Delete the file") {
		t.Error(r)
	}
	m.apply(changes)
	if got := m.read("home/.claude/rules/cairn.md"); got != "my own words\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(m.path("home/.claude/skills")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the plugin is still there")
	}
}

func TestAnOlderFileOfOursIsRenewed(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	before := m.tree()
	old := Part{Role: Instructions, Path: m.path("home/.claude/rules/cairn.md"), Perm: textPerm, Whole: "What an older version said.\n"}
	p, err := newPlanner(m.env)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.connect(old); err != nil {
		t.Fatal(err)
	}
	changes, err := p.changes(use{})
	if err != nil {
		t.Fatal(err)
	}
	m.apply(changes)
	m.connect(claudeCode{})
	if got := m.read("home/.claude/rules/cairn.md"); got != Protocol() {
		t.Errorf("got %q", got)
	}
	m.disconnect(claudeCode{})
	m.sameTree("disconnected", before)
}

func TestLinksIntoNowhereAndFoldersAreLeft(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	if err := os.MkdirAll(m.path("home/.cursor/hooks.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.path("gone/mcp.json"), m.path("home/.cursor/mcp.json")); err != nil {
		t.Fatal(err)
	}
	changes, err := Plan(m.env, cursor{})
	refusal(t, err)
	if got := actions(changes); got != "manual manual" {
		t.Errorf("got %s", got)
	}
}

func TestCursorsVersionStaysForOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.connect(cursor{})
	// Another tool adds its hook to the file that we made.
	m.write("home/.cursor/hooks.json", strings.Replace(m.read("home/.cursor/hooks.json"), "\"sessionStart\": [", "\"stop\": [{\"command\": \"x\"}],\n    \"sessionStart\": [", 1))
	m.disconnect(cursor{})
	tree, err := splice.Decode([]byte(m.read("home/.cursor/hooks.json")), splice.JSON)
	if err != nil {
		t.Fatal(err)
	}
	table := tree.(map[string]any)
	if table["version"] == nil || !hasString(table["hooks"], "x") || hasString(table["hooks"], "cairn") {
		t.Errorf("got %s", m.read("home/.cursor/hooks.json"))
	}
}

func TestALedgerThatIsNotUnderstoodIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"version": 2}`} {
		m := newMachine(t, t.TempDir())
		m.write("home/.cairn/connect/ledger.json", text)
		if changes, err := Plan(m.env, cursor{}); err == nil || !strings.Contains(err.Error(), "ledger") {
			t.Errorf("%s: planned %s, %v", text, actions(changes), err)
		}
	}
}
