package splice

import (
	"errors"
	"strings"
	"testing"
)

func isTool(v any) bool {
	table, ok := v.(map[string]any)
	return ok && table["command"] == any("/opt/tool")
}

var (
	jsonServer = Entry{Format: JSON, Path: []string{"mcpServers", "tool"}, Ours: isTool, Value: Map{
		{"command", "/opt/tool"}, {"args", []any{"mcp", "--client", "x"}}}}
	jsonHook = Entry{Format: JSON, Path: []string{"hooks", "start"}, Item: true, Ours: isTool, Value: Map{
		{"command", "/opt/tool"}, {"timeout", 10}}}
	tomlServer = Entry{Format: TOML, Path: []string{"mcp_servers", "tool"}, Ours: isTool, Value: Map{
		{"command", "/opt/tool"}, {"args", []any{"mcp", "--client", "x"}}}}
	yamlServer = Entry{Format: YAML, Path: []string{"mcp_servers", "tool"}, Ours: isTool, Value: Map{
		{"command", "/opt/tool"}, {"args", []any{"mcp", "--client", "x"}}}}
	yamlHook = Entry{Format: YAML, Path: []string{"hooks", "pre_llm_call"}, Item: true, Ours: isTool, Value: Map{
		{"command", "/opt/tool"}, {"timeout", 10}}}
	block = Entry{Format: Fenced, Path: []string{"tool"}, Value: "First line.\n\nLast line."}
)

func TestInsertReadsLikeWrittenByHand(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name        string
		entry       Entry
		text, after string
	}{
		{"json: empty file", jsonServer, "", `{
  "mcpServers": {
    "tool": {
      "command": "/opt/tool",
      "args": ["mcp", "--client", "x"]
    }
  }
}
`},
		{"json: before a neighbor, in its indentation", jsonServer, "{\n\t\"mcpServers\": { // all of them\n\t\t\"other\": {\"n\": 12345678901234567890},\n\t},\n}",
			"{\n\t\"mcpServers\": { // all of them\n\t\t\"tool\": {\n\t\t\t\"command\": \"/opt/tool\",\n\t\t\t\"args\": [\"mcp\", \"--client\", \"x\"]\n\t\t},\n\t\t\"other\": {\"n\": 12345678901234567890},\n\t},\n}"},
		{"json: one line stays one line", jsonServer, `{"a":1,"mcpServers":{"other":{}}}`,
			`{"a":1,"mcpServers":{"tool": {"command": "/opt/tool", "args": ["mcp", "--client", "x"]}, "other":{}}}`},
		{"json: empty table opens up", jsonHook, "{\n  \"hooks\": {}\n}\n",
			"{\n  \"hooks\": {\n    \"start\": [\n      {\n        \"command\": \"/opt/tool\",\n        \"timeout\": 10\n      }\n    ]\n  }\n}\n"},
		{"json5: names without quotes", jsonHook, "{hooks: {start: [\n  'first', // mine\n]}}",
			"{hooks: {start: [\n  'first', // mine\n  {\n    \"command\": \"/opt/tool\",\n    \"timeout\": 10\n  },\n]}}"},
		{"json: last of the items", jsonHook, "{\"hooks\":{\"start\":[\n\t1\n]}}", "{\"hooks\":{\"start\":[\n\t1,\n\t{\n\t  \"command\": \"/opt/tool\",\n\t  \"timeout\": 10\n\t}\n]}}"},
		{"json: last of the items on one line", jsonHook, `{"hooks":{"start":[1]}}`, `{"hooks":{"start":[1, {"command": "/opt/tool", "timeout": 10}]}}`},
		{"toml: behind a last line without end", tomlServer, "model = \"x\" # c", "model = \"x\" # c\n\n[mcp_servers.tool]\ncommand = \"/opt/tool\"\nargs = [\"mcp\", \"--client\", \"x\"]\n"},
		{"yaml: new table", yamlServer, "model: x\n", "model: x\nmcp_servers:\n  tool:\n    command: \"/opt/tool\"\n    args: [\"mcp\", \"--client\", \"x\"]\n"},
		{"yaml: before a neighbor and its comment", yamlServer, "mcp_servers: # all\n    # the other\n    other: {command: y}\nz: 1\n",
			"mcp_servers: # all\n    tool:\n      command: \"/opt/tool\"\n      args: [\"mcp\", \"--client\", \"x\"]\n    # the other\n    other: {command: y}\nz: 1\n"},
		{"yaml: table in braces", yamlServer, "mcp_servers: {}\n", "mcp_servers: {tool: {command: \"/opt/tool\", args: [\"mcp\", \"--client\", \"x\"]}}\n"},
		{"yaml: key without a value", yamlHook, "hooks:\nz: 1\n", "hooks:\n  pre_llm_call:\n    - command: \"/opt/tool\"\n      timeout: 10\nz: 1\n"},
		{"yaml: list that is not indented", yamlHook, "hooks:\n  pre_llm_call:\n  - command: a\n", "hooks:\n  pre_llm_call:\n  - command: \"/opt/tool\"\n    timeout: 10\n  - command: a\n"},
		{"fenced: behind text without end", block, "# Rules", "# Rules\n\n<!-- tool:begin v1 -->\nFirst line.\n\nLast line.\n<!-- tool:end -->\n"},
		{"fenced: line ends of the file", block, "# Rules\r\n", "# Rules\r\n\r\n<!-- tool:begin v1 -->\r\nFirst line.\r\n\r\nLast line.\r\n<!-- tool:end -->\r\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			edit, err := Insert([]byte(c.text), c.entry)
			if err != nil {
				t.Fatal(err)
			}
			after := edit.Apply([]byte(c.text))
			if string(after) != c.after {
				t.Errorf("got\n%s\nwant\n%s", after, c.after)
			}
			if state, err := Find(after, c.entry); state != Current || err != nil {
				t.Errorf("found %v, %v after the insertion", state, err)
			}
			back, ok := CutText(after, c.entry, edit.Put, edit.At)
			if !ok || string(back.Apply(after)) != c.text {
				t.Errorf("cut %v gave %q", ok, back.Apply(after))
			}
		})
	}
}

func TestFindTellsWhatStandsThere(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		entry Entry
		text  string
		want  State
	}{
		{"nothing", jsonServer, `{"mcpServers": null}`, Absent},
		{"the same with more", jsonServer, `{"mcpServers":{"tool":{"args":["mcp","--client","x"],"command":"/opt/tool","env":{}}}}`, Current},
		{"ours, changed", jsonServer, `{"mcpServers":{"tool":{"command":"/opt/tool","args":[]}}}`, Outdated},
		{"ours, extended by hand", jsonServer, `{"mcpServers":{"tool":{"command":"/opt/tool","args":[],"env":{}}}}`, Edited},
		{"another tool of that name", jsonServer, `{"mcpServers":{"tool":{"command":"/bin/else"}}}`, Foreign},
		{"other items", jsonHook, `{"hooks":{"start":[{"command":"/bin/else"}]}}`, Absent},
		{"a number given as a string", jsonHook, `{"hooks":{"start":[{"command":"/opt/tool","timeout":"10"}]}}`, Outdated},
		{"escaped name", jsonServer, `{"mcp\u0053ervers":{'to\x6fl':{command:"\/opt/tool",args:["mcp","--client","x",],}}}`, Current},
		{"toml, inline", tomlServer, `mcp_servers.tool = { command = '/opt/tool', args = ["mcp", "--client", "x"] }`, Current},
		{"yaml, by alias", yamlServer, "a: &a {command: /opt/tool, args: [mcp, --client, x]}\nmcp_servers: {tool: *a}\n", Current},
		{"block with other text", block, "<!-- tool:begin v1 -->\nOld.\n<!-- tool:end -->\n", Outdated},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := Find([]byte(c.text), c.entry); got != c.want || err != nil {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestUnsafeTextIsRefused(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		entry Entry
		text  string
	}{
		{"byte order mark", jsonServer, "\xEF\xBB\xBF{}"},
		{"byte order mark in TOML", tomlServer, "\xEF\xBB\xBFa = 1"},
		{"UTF-16", block, "\xFF\xFEa\x00"},
		{"not UTF-8", jsonServer, "{\"a\":\"\xFF\"}"},
		{"key twice", jsonServer, `{"x":{"a":1,"a":2}}`},
		{"key twice in TOML", tomlServer, "a = 1\na = 2\n"},
		{"key twice in YAML", yamlServer, "a: 1\na: 2\n"},
		{"two documents", yamlServer, "a: 1\n---\nb: 1\n"},
		{"cut short", jsonServer, `{"a":`},
		{"two values", jsonServer, `{} {}`},
		{"comment not closed", jsonServer, `{} /*`},
		{"string over two lines", jsonServer, "{\"a\": \"x\ny\"}"},
		{"nested without end", jsonServer, strings.Repeat("[", 100_000)},
		{"end without begin", block, "<!-- tool:end -->\n"},
		{"begin without end", block, "<!-- tool:begin v1 -->\n"},
		{"block twice", block, strings.Repeat("<!-- tool:begin v1 -->\n<!-- tool:end -->\n", 2)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Insert([]byte(c.text), c.entry)
			if _, ok := errors.AsType[*ParseError](err); !ok {
				t.Errorf("got %v, want a *ParseError", err)
			}
		})
	}
}

func TestNoPlaceIsSaid(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		entry Entry
		text  string
	}{
		{"root is a list", jsonServer, `[]`},
		{"table is a string", jsonServer, `{"mcpServers":"none"}`},
		{"list is a table", jsonHook, `{"hooks":{"start":{}}}`},
		{"inline table in TOML is closed", tomlServer, "mcp_servers = { other = { command = 'x' } }\n"},
		{"value by alias", yamlServer, "a: &a {x: {}}\nmcp_servers: *a\n"},
		{"spelled-out null", yamlServer, "mcp_servers: null\n"},
		{"the entry is there already", jsonServer, `{"mcpServers":{"tool":{"command":"/bin/else"}}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if edit, err := Insert([]byte(c.text), c.entry); !errors.Is(err, ErrNoPlace) {
				t.Errorf("got %v and %q, want ErrNoPlace", err, edit.Apply([]byte(c.text)))
			}
		})
	}
}

func TestCutByStructure(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name        string
		entry       Entry
		text, after string
	}{
		{"only member", jsonServer, "{\n  \"mcpServers\": {\n    \"tool\": {\"command\":\"/opt/tool\"}\n  }\n}\n", "{\n  \"mcpServers\": {\n  }\n}\n"},
		{"last member, note on the comma before", jsonServer, "{\"mcpServers\": {\n  \"a\": 1, // note\n  \"tool\": {\"command\":\"/opt/tool\"}\n}}", "{\"mcpServers\": {\n  \"a\": 1 // note\n}}"},
		{"first on one line", jsonServer, `{"mcpServers":{"tool": {"command":"/opt/tool"}, "b":2}}`, `{"mcpServers":{"b":2}}`},
		{"comma on the next line", jsonServer, "{mcpServers:{\n  tool: {command:'/opt/tool'}\n  , b:2}}", "{mcpServers:{\n  b:2}}"},
		{"two items", jsonHook, `{"hooks":{"start":[{"command":"/opt/tool"}, 1, {"command":"/opt/tool"}]}}`, `{"hooks":{"start":[1 ]}}`},
		{"table with a sub-table", tomlServer, "a = 1\n\n[mcp_servers.tool]\ncommand = \"/opt/tool\"\n[mcp_servers.tool.env]\nA = \"\"\"\n[x]\n# y\n\"\"\" # z\n\n# about b\n[b]\nc = 1\n", "a = 1\n\n\n# about b\n[b]\nc = 1\n"},
		{"pair in a table", tomlServer, "[mcp_servers]\ntool.command = '/opt/tool'\nother = {}\n", "[mcp_servers]\nother = {}\n"},
		{"between neighbors", yamlServer, "mcp_servers:\n  a: {}\n  tool:\n    command: /opt/tool\n  # b\n  b: {}\n", "mcp_servers:\n  a: {}\n  # b\n  b: {}\n"},
		{"first item", yamlHook, "hooks:\n  pre_llm_call:\n  - command: /opt/tool\n    timeout: 3\n  - command: b\n", "hooks:\n  pre_llm_call:\n  - command: b\n"},
		{"only item", yamlHook, "hooks:\n  pre_llm_call:\n    - command: /opt/tool\nz: 1\n", "hooks:\n  pre_llm_call:\nz: 1\n"},
		{"edited block", block, "a\r\n<!-- tool:begin v1 -->\r\nmine\r\n<!-- tool:end -->\r\nb\r\n", "a\r\nb\r\n"},
		{"absent", jsonServer, `{"mcpServers":{}}`, `{"mcpServers":{}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			edits, err := Cut([]byte(c.text), c.entry)
			if err != nil {
				t.Fatal(err)
			}
			if after := applyAll([]byte(c.text), edits); string(after) != c.after {
				t.Errorf("got\n%s\nwant\n%s", after, c.after)
			}
		})
	}
}

func TestWhatCannotBeCutIsLeft(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		entry Entry
		text  string
	}{
		{"not ours", jsonServer, `{"mcpServers":{"tool":{"command":"/bin/else"}}}`},
		{"table in braces", yamlServer, "mcp_servers: {tool: {command: /opt/tool}}\n"},
		{"its name stands behind a merge", yamlServer, "a: &a {tool: {command: /opt/tool}}\nmcp_servers:\n  <<: *a\n"},
		{"text in several lines at its end", yamlServer, "mcp_servers:\n  tool:\n    command: /opt/tool\n    note: |\n      a\n      b\n  b: 1\n"},
		{"inline table in TOML", tomlServer, "mcp_servers = { tool = { command = '/opt/tool' } }\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if edits, err := Cut([]byte(c.text), c.entry); !errors.Is(err, ErrNotCut) {
				t.Errorf("got %v and %q, want ErrNotCut", err, applyAll([]byte(c.text), edits))
			}
		})
	}
}

func TestCutTextGivesWayWhenNeighborsCameToDependOnIt(t *testing.T) {
	t.Parallel()
	const empty = `{"mcpServers":{}}`
	edit, err := Insert([]byte(empty), jsonServer)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody adds a member behind ours; without ours, its comma would be one too many.
	text := strings.Replace(string(edit.Apply([]byte(empty))), "}}}", `}, "b": {}}}`, 1)
	if cut, ok := CutText([]byte(text), jsonServer, edit.Put, edit.At); ok {
		t.Errorf("cut to %q", cut.Apply([]byte(text)))
	}
	edits, err := Cut([]byte(text), jsonServer)
	if after := string(applyAll([]byte(text), edits)); err != nil || after != `{"mcpServers":{"b": {}}}` {
		t.Errorf("got %q, %v", after, err)
	}
}

func TestParseErrorNamesTheLineAndNoValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry Entry
		text  string
	}{
		{jsonServer, "{\n\"key\": hush-hush\n}"},
		{tomlServer, "a = 1\nkey = hush-hush\n"},
		{yamlServer, "a: 1\nkey: hush-hush: x\n"},
	} {
		_, err := Find([]byte(c.text), c.entry)
		reason, ok := errors.AsType[*ParseError](err)
		if !ok || reason.Line != 2 || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
