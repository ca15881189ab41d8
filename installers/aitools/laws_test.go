package aitools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/internal/disk"
)

// settings are what may stand in the files of the tools before they are connected. %eol becomes a line end.
var settings = map[string][]string{
	"home/.cursor/mcp.json": {
		"", "{}", " { } ", "{%eol}%eol", `{"mcpServers":{}}`, "{%eol\t\"mcpServers\": { // all%eol\t\t\"a\": {\"command\": \"x\"}, /* b */%eol\t},%eol\t\"n\": 1234567890123456789012,%eol}",
		"{mcpServers: {'a': {command: 'x',},},}", "// only a comment%eol", "[1]", "{\"mcpServers\": null}",
	},
	"home/.cursor/hooks.json": {
		"", "{}", `{"version": 1, "hooks": {}}`, `{"hooks":{"sessionStart":[{"command":"x"}]},"version":1}`, "{%eol  \"version\": 2%eol}", "{%eol    \"hooks\": {%eol        \"sessionStart\": []%eol    }%eol}",
	},
	"home/.codex/config.toml": {
		"", "# only a comment", "model = \"x\"", "model = 'x' # c%eol%eol[mcp_servers.a]%eolcommand = \"a\"%eol", "[[x]]%eoln = 9223372036854775807%eol\t%eol", "mcp_servers.a.command = 'a'%eol", "mcp_servers = {}%eol",
	},
	"home/.codex/hooks.json": {"", "{%eol  \"hooks\": {%eol    \"SessionStart\": [%eol      {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}%eol    ]%eol  }%eol}%eol", `{"hooks":{"Stop":[]}}`},
	"home/.codex/AGENTS.md":  {"", "# Mine", "# Mine%eol%eol", "%eol", "\xEF\xBB\xBF# Mark%eol", "<!-- other:begin v1 -->%eol<!-- other:end -->%eol"},
	"home/.hermes/config.yaml": {
		"", "model: x # c", "mcp_servers: {}%eolhooks: {}%eol", "mcp_servers:%eol    # one%eol    a: {command: x}   # odd%eol%eolhooks:%eol  pre_llm_call:%eol  - command: y%eol", "hooks:%eol", "---%eola: |%eol  text%eol", "a: [1,%eol 2]%eol...%eol",
		"mcp_servers: {a: {command: x}}", "n: 123456789012345678901%eolb: &b [*missing]%eol",
	},
	"home/.openclaw/openclaw.json":        {"", "{}", "// mine%eol{%eol  mcp: {%eol    servers: {%eol      a: { command: 'x' },%eol    },%eol  },%eol}%eol", "{agents: {defaults: {model: 'x'}}}", "{\"mcp\":{}}"},
	"project/AGENTS.md":                   {"", "# Project%eol"},
	"project/.mcp.json":                   {"", `{"mcpServers":{"a":{"type":"stdio"}}}`},
	"project/.claude/settings.local.json": {"", "{%eol  \"hooks\": {%eol    \"Stop\": []%eol  },%eol  \"permissions\": {}%eol}%eol"},
}

// lived fills a machine with files of other tools and returns it.
func lived(t *rapid.T, dir string) machine {
	m := newMachine(t, dir)
	if rapid.Bool().Draw(t, "project") {
		m = m.inProject()
	}
	for _, name := range rapid.Permutation(keys(settings)).Draw(t, "files")[:rapid.IntRange(0, len(settings)).Draw(t, "count")] {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		m.write(name, strings.ReplaceAll(rapid.SampledFrom(settings[name]).Draw(t, name), "%eol", eol))
	}
	return m
}

func keys(m map[string][]string) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	return out
}

func TestConnectAndDisconnectGiveEveryByteBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "aitools")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := lived(t, dir)
		before := m.tree()
		tools := rapid.Permutation(All()).Draw(t, "order")[:rapid.IntRange(1, 2).Draw(t, "tools")]

		plan := func(plan func(Env, ...Tool) ([]Change, error), tools []Tool) []Change {
			changes, err := plan(m.env, tools...)
			if _, manual := errors.AsType[*ManualError](err); err != nil && !manual {
				t.Fatal(err)
			}
			m.apply(changes)
			return changes
		}
		plan(Plan, tools)
		connected := m.tree()
		for _, c := range plan(Plan, tools) {
			if c.Action != Unchanged && c.Action != Manual {
				t.Fatalf("the second time %s is to %s", c.Path, c.Action)
			}
		}
		m.sameTree("connected twice", connected)
		for _, tool := range rapid.Permutation(tools).Draw(t, "back") {
			plan(PlanRemove, []Tool{tool})
		}
		m.sameTree("disconnected", before)
		if t.Failed() {
			t.FailNow()
		}
	})
}

// A failing disk fails the n-th operation that changes anything, and all after it.
type failingDisk struct {
	disk.FS
	left *int
}

var errDisk = errors.New("no space left")

func (f failingDisk) fail() error {
	if *f.left--; *f.left < 0 {
		return errDisk
	}
	return nil
}

func (f failingDisk) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if flag != os.O_RDONLY {
		if err := f.fail(); err != nil {
			return nil, err
		}
	}
	return f.FS.OpenFile(name, flag, perm)
}

func (f failingDisk) MkdirAll(name string, perm fs.FileMode) error {
	return errors.Join(f.fail(), f.FS.MkdirAll(name, perm))
}

func (f failingDisk) Rename(from, to string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

func (f failingDisk) Remove(name string) error {
	if err := f.fail(); err != nil && !strings.HasSuffix(name, ".tmp") {
		return err
	}
	return f.FS.Remove(name)
}

func TestADiskThatFailsAnywhereLeavesWholeFilesAndAWayBack(t *testing.T) {
	t.Parallel()
	const theirs = "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}"
	for n := 0; ; n++ {
		m := newMachine(t, t.TempDir())
		m.write("home/.cursor/mcp.json", theirs)
		before := m.tree()
		changes, err := Plan(m.env, cursor{}, claudeCode{})
		if err != nil {
			t.Fatal(err)
		}
		broken, left := m.env, n
		broken.FS = failingDisk{m.env.FS, &left}
		err = Apply(context.Background(), broken, changes)
		for _, c := range changes {
			if got, readErr := os.ReadFile(c.Path); readErr == nil && string(got) != string(c.Before) && string(got) != string(c.After) {
				t.Fatalf("operation %d: %s is half written: %q", n, c.Path, got)
			}
		}
		m.connect(cursor{}, claudeCode{})
		m.disconnect(cursor{}, claudeCode{})
		m.sameTree("disconnected", before)
		if err == nil {
			if n < 10 {
				t.Errorf("only %d operations were made to fail", n)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
	}
}
