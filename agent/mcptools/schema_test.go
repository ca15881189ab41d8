package mcptools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cairn/agent/mcptools"
)

// published are the tools as a client sees them, in JSON.
func published(t *testing.T) map[string]map[string]any {
	t.Helper()
	c := connect(t, options(&memory{}), "test")
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, tool := range list.Tools {
		b, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		all[tool.Name] = m
	}
	return all
}

func TestTheToolsAreTheOnesPromised(t *testing.T) {
	t.Parallel()
	tools := published(t)
	want := "doctor log ping recall remember revise show status"
	if got := strings.Join(slices.Sorted(maps.Keys(tools)), " "); got != want {
		t.Errorf("tools: %s, want %s", got, want)
	}
	for name, tool := range tools {
		writes := name == "remember" || name == "revise"
		want := map[string]any{"readOnlyHint": !writes, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
		got := tool["annotations"].(map[string]any)
		if title := got["title"]; title == "" || title != tool["title"] {
			t.Errorf("%s is titled %v and %v", name, title, tool["title"])
		}
		delete(got, "title")
		if !maps.Equal(got, want) {
			t.Errorf("%s: annotations %v, want %v", name, got, want)
		}
		core := name == "remember" || name == "recall"
		if meta := fmt.Sprint(tool["_meta"]); core != (meta == "map[anthropic/alwaysLoad:true]") {
			t.Errorf("%s: _meta %s", name, meta)
		}
	}
}

func TestSchemasKeepToWhatEveryClientTakes(t *testing.T) {
	t.Parallel()
	for name, tool := range published(t) {
		for _, which := range []string{"inputSchema", "outputSchema"} {
			schema := tool[which].(map[string]any)
			if fault := schemaFault(schema, which == "outputSchema"); fault != "" {
				t.Errorf("%s, %s: %s", name, which, fault)
			}
			if schema["type"] != "object" || schema["additionalProperties"] != false {
				t.Errorf("%s, %s is not a closed object", name, which)
			}
			compile(t, schema)
		}
	}
}

// schemaFault looks for what some client refuses. Objects inside of others
// are all right in answers, which no model has to write.
func schemaFault(schema map[string]any, nested bool) string {
	for key, value := range schema {
		switch key {
		case "additionalProperties":
			if value != false {
				return "an object that is open"
			}
		case "type":
			if _, ok := value.(string); !ok {
				return "more than one type"
			}
		case "description", "enum", "required":
		case "items":
			if fault := schemaFault(value.(map[string]any), nested); fault != "" {
				return fault
			}
		case "properties":
			for name, p := range value.(map[string]any) {
				p := p.(map[string]any)
				if p["type"] == "object" && !nested {
					return name + " is an object"
				}
				if fault := schemaFault(p, nested); fault != "" {
					return name + ": " + fault
				}
			}
		default:
			return "the keyword " + key
		}
	}
	return ""
}

func TestTheSchemaCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`{"type":["string","null"]}`, `{"anyOf":[]}`, `{"properties":{"a":{"type":"string","format":"date"}}}`, `{"properties":{"a":{"type":"object"}}}`,
		`{"properties":{"a":{"type":"array","items":{"$ref":"#"}}}}`, `{"additionalProperties":true}`, `{"properties":{"a":{"type":"string","default":"x"}}}`, `{"pattern":"x"}`,
	} {
		var schema map[string]any
		if err := json.Unmarshal([]byte(bad), &schema); err != nil {
			t.Fatal(err)
		}
		if schemaFault(schema, false) == "" {
			t.Errorf("%s passes", bad)
		}
	}
}

func compile(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:schema")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

var outputs = struct {
	sync.Mutex
	byTool map[string]*jsonschema.Schema
}{byTool: map[string]*jsonschema.Schema{}}

// checkOutput fails if a structured answer breaks the schema of its tool.
func checkOutput(t *testing.T, tool string, value []byte) {
	t.Helper()
	outputs.Lock()
	defer outputs.Unlock()
	if outputs.byTool[tool] == nil {
		tools := published(t)
		tools["note"], tools["ask"] = tools["remember"], tools["recall"]
		for name, described := range tools {
			outputs.byTool[name] = compile(t, described["outputSchema"])
		}
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatalf("%s: %v in %.200q", tool, err, value)
	}
	if err := outputs.byTool[tool].Validate(v); err != nil {
		t.Errorf("%s: %v", tool, err)
	}
}

func TestWordsSayWhenAndKeepToTheirBudgets(t *testing.T) {
	t.Parallel()
	if n := len(mcptools.Instructions); n > 1800 {
		t.Errorf("the instructions have %d bytes", n)
	}
	first := mcptools.Instructions[:200]
	for _, word := range []string{"memory", "Call recall before", "call remember after", "Never store secrets."} {
		if !strings.Contains(first, word) {
			t.Errorf("the first 200 bytes lack %q: %s", word, first)
		}
	}
	for name, tool := range published(t) {
		words := tool["description"].(string)
		if len(words) > 1000 || !strings.Contains(words, "CALL ") {
			t.Errorf("%s: %d bytes: %s", name, len(words), words)
		}
		if !strings.Contains(mcptools.Instructions, name) && (name == "remember" || name == "recall" || name == "show" || name == "revise" || name == "log") {
			t.Errorf("the instructions do not speak of %s", name)
		}
	}
}
