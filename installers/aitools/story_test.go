package aitools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanWritesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.cursor/mcp.json", "{}")
	before := m.tree()
	if _, err := Plan(m.env, All()...); err != nil {
		t.Fatal(err)
	}
	if _, err := PlanRemove(m.env, All()...); err != nil {
		t.Fatal(err)
	}
	if _, err := Detect(m.env); err != nil {
		t.Fatal(err)
	}
	m.sameTree("planned", before)
	if _, err := os.Stat(m.env.CairnHome); !errors.Is(err, os.ErrNotExist) {
		t.Error("a home was made")
	}
}

func TestDisconnectingWhatWasNeverConnectedLeavesNoTrace(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.codex/config.toml", "model = 'x'\n")
	before := m.tree()
	m.disconnect(All()...)
	m.sameTree("disconnected", before)
	if _, err := os.Stat(m.env.CairnHome); !errors.Is(err, os.ErrNotExist) {
		t.Error("a home was made")
	}
}

func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	for _, m := range []machine{newMachine(t, t.TempDir()), newMachine(t, t.TempDir()).inProject()} {
		m.connect(All()...)
		before, ledger := m.tree(), m.read("home/.cairn/connect/ledger.json")
		if got := actions(m.connect(All()...)); strings.ReplaceAll(got, "unchanged", "") != strings.Repeat(" ", strings.Count(got, " ")) {
			t.Errorf("the second time: %s", got)
		}
		m.sameTree("connected again", before)
		if m.read("home/.cairn/connect/ledger.json") != ledger {
			t.Error("the ledger changed")
		}
	}
}

func TestAnEmptyHomeIsEmptyAgain(t *testing.T) {
	t.Parallel()
	for _, m := range []machine{newMachine(t, t.TempDir()), newMachine(t, t.TempDir()).inProject()} {
		before := m.tree()
		m.connect(All()...)
		m.disconnect(All()...)
		m.sameTree("disconnected", before)
	}
}

func TestOneToolAfterTheOther(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir()).inProject()
	before := m.tree()
	for _, tool := range All() {
		m.connect(tool)
	}
	m.disconnect(codex{})
	if !strings.Contains(m.read("project/AGENTS.md"), "cairn:begin") {
		t.Error("Hermes lost the text that it shares with Codex")
	}
	m.disconnect(hermes{}, openClaw{})
	m.disconnect(cursor{})
	m.disconnect(claudeCode{})
	m.sameTree("disconnected", before)
}

func TestDisconnectingFindsTheProjects(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	project := m.inProject()
	before := m.tree()
	m.connect(cursor{})
	project.connect(cursor{})
	m.disconnect(cursor{})
	m.sameTree("disconnected", before)
	if strings.Contains(m.read("home/.cairn/connect/ledger.json"), "project") {
		t.Error("the ledger still knows the project")
	}
}

func TestLeavingAProjectKeepsWhatOthersNeed(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	project := m.inProject()
	empty := m.tree()
	m.connect(hermes{}, cursor{})
	before := m.tree()
	project.connect(hermes{}, cursor{})
	project.disconnect(hermes{}, cursor{})
	m.sameTree("disconnected from the project", before)
	project.connect(hermes{})
	m.disconnect(hermes{}, cursor{})
	project.connect(hermes{})
	project.disconnect(hermes{})
	m.sameTree("disconnected from all", empty)
}

func TestAMovedProgramIsRenewedAndStillTakenOut(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {}, // mine\n  },\n}")
	m.write("home/.codex/config.toml", "# none")
	m.write("home/.hermes/config.yaml", "hooks: {}\n")
	before := m.tree()
	m.connect(All()...)
	m.env.Binary = m.path("new/cairn")
	if got := actions(m.connect(All()...)); strings.Contains(got, "append") || strings.Contains(got, "create") || !strings.Contains(got, "replace") {
		t.Errorf("renewed by %s", got)
	}
	for name, text := range m.tree() {
		if strings.Contains(text, "bin dir") {
			t.Errorf("%s still names the old program", name)
		}
	}
	m.disconnect(All()...)
	m.sameTree("disconnected", before)
}

func TestWithoutTheLedgerTheEntriesAreStillFound(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.cursor/mcp.json", `{"mcpServers":{"a":{}}}`)
	m.write("home/.codex/AGENTS.md", "# Mine\n")
	m.connect(All()...)
	if err := os.RemoveAll(m.env.CairnHome); err != nil {
		t.Fatal(err)
	}
	m.disconnect(All()...)
	for name, text := range m.tree() {
		if strings.Contains(text, "cairn") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if got := m.read("home/.cursor/mcp.json"); got != `{"mcpServers":{"a":{}}}` {
		t.Errorf("got %s", got)
	}
}

func TestLaterEditsOfOthersStay(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.connect(cursor{}, codex{})
	m.write("home/.cursor/mcp.json", strings.Replace(m.read("home/.cursor/mcp.json"), "{\n", "{\n  \"theme\": \"dark\",\n", 1))
	m.write("home/.codex/config.toml", "model = \"x\"\n"+m.read("home/.codex/config.toml")+"[projects.\"/p\"]\ntrust_level = \"trusted\"\n")
	m.disconnect(cursor{}, codex{})
	if got := m.read("home/.cursor/mcp.json"); !strings.Contains(got, `"theme": "dark"`) || strings.Contains(got, "cairn") {
		t.Errorf("got %s", got)
	}
	if got := m.read("home/.codex/config.toml"); got != "model = \"x\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n" {
		t.Errorf("got %q", got)
	}
}

func TestALinkIsFollowedAndStays(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("dotfiles/mcp.json", "{}\n")
	if err := os.MkdirAll(m.path("home/.cursor"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.path("dotfiles/mcp.json"), m.path("home/.cursor/mcp.json")); err != nil {
		t.Fatal(err)
	}
	before := m.tree()
	m.connect(cursor{})
	if !strings.Contains(m.read("dotfiles/mcp.json"), "cairn") {
		t.Error("the link's target was not edited")
	}
	m.disconnect(cursor{})
	m.sameTree("disconnected", before)
}

func TestAFileThatChangedInTheMeantimeIsLeft(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.cursor/mcp.json", "{}")
	changes, err := Plan(m.env, cursor{})
	if err != nil {
		t.Fatal(err)
	}
	m.write("home/.cursor/mcp.json", `{"new":1}`)
	err = Apply(context.Background(), m.env, changes)
	if changed, ok := errors.AsType[*ChangedError](err); !ok || changed.Path != m.path("home/.cursor/mcp.json") {
		t.Errorf("got %v", err)
	}
	if got := m.read("home/.cursor/mcp.json"); got != `{"new":1}` {
		t.Errorf("got %s", got)
	}
	m.connect(cursor{})
	m.disconnect(cursor{})
	if got := m.read("home/.cursor/mcp.json"); got != `{"new":1}` {
		t.Errorf("got %s", got)
	}
}

func TestTheFirstContentsAreKept(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.cursor/mcp.json", "{}")
	m.connect(cursor{})
	backup := filepath.Join(m.env.CairnHome, "connect", "backup", hashOf([]byte("{}")))
	info, err := os.Stat(backup)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v", info, err)
	}
}

func TestADiffShowsOurLinesAndNobodyElses(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	const theirs = "not-for-the-screen"
	m.write("home/.cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"KEY\": \""+theirs+"\"}}\n  }\n}\n")
	m.write("home/.codex/config.toml", "key = '"+theirs+"'")
	m.write("home/.hermes/config.yaml", "mcp_servers: {a: {key: "+theirs+"}}")
	for _, changes := range [][]Change{m.connect(All()...), m.disconnect(All()...)} {
		for _, c := range changes {
			if diff := c.Diff(); strings.Contains(diff, theirs) || !strings.Contains(diff, "@@ line ") {
				t.Errorf("%s: %s", c.Path, diff)
			}
		}
	}
}

func TestADiffCountsTheLines(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.write("home/.codex/AGENTS.md", "# One\n\nThree\n")
	for _, c := range m.connect(codex{}) {
		if filepath.Base(c.Path) == "AGENTS.md" && !strings.Contains(c.Diff(), "@@ line 5 @@\n+<!-- cairn:begin v1 -->\n+# Shared memory") {
			t.Error(c.Diff())
		}
	}
}

func TestDetectTellsHowThingsStand(t *testing.T) {
	t.Parallel()
	m := newMachine(t, t.TempDir())
	m.env.LookPath = func(program string) (string, error) {
		if program == "cursor-agent" {
			return "/bin/cursor-agent", nil
		}
		return "", os.ErrNotExist
	}
	m.write("home/.codex/config.toml", "model = 'x'\n")
	m.connect(codex{})
	m.write("home/.codex/hooks.json", "{")
	m.write("home/.hermes/config.yaml", "mcp_servers:\n  cairn: {command: cairn, args: [mcp]}\n")
	all, err := Detect(m.env)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range all {
		if s.Installed {
			got[s.Tool] = "installed"
		}
		if s.Connected {
			got[s.Tool] = "connected"
		}
		for _, f := range s.Files {
			got[s.Tool] += " " + f.State
		}
	}
	for tool, want := range map[string]string{
		"codex": "connected connected unreadable connected", "cursor": "installed missing missing missing", "hermes": "installed outdated missing missing",
	} {
		if got[tool] != want {
			t.Errorf("%s: %s, want %s", tool, got[tool], want)
		}
	}
}
