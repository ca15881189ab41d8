package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"cairn/agent/api"
)

// answer is what a tool answered.
type answer struct {
	text string
	hits []api.Hit
}

// toolError is a tool's no.
type toolError struct{ text string }

func (e *toolError) Error() string { return e.text }

// callTool starts this program as an MCP server for a machine, as an AI tool
// would, and calls one tool.
func (s *stage) callTool(m *machine, name string, args map[string]any) (a answer, err error) {
	c, err := client.NewStdioMCPClient(s.opt.Program, os.Environ(), "mcp", "--home", string(m.home))
	if err != nil {
		return answer{}, fmt.Errorf("start the MCP server: %w", err)
	}
	defer c.Close()
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "demo-" + m.name, Version: "1"}
	if _, err := c.Initialize(s.ctx, hello); err != nil {
		return answer{}, fmt.Errorf("initialize: %w", err)
	}
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = name, args
	r, err := c.CallTool(s.ctx, call)
	if err != nil {
		return answer{}, fmt.Errorf("call %s: %w", name, err)
	}
	return read(r)
}

func read(r *mcp.CallToolResult) (answer, error) {
	var text []string
	for _, part := range r.Content {
		if t, ok := part.(mcp.TextContent); ok {
			text = append(text, t.Text)
		}
	}
	a := answer{text: strings.Join(strings.Fields(strings.Join(text, " ")), " ")}
	if r.IsError {
		return answer{}, &toolError{a.text}
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return answer{}, err
	}
	var structured api.Answer
	if err := json.Unmarshal(b, &structured); err != nil {
		return answer{}, fmt.Errorf("read the structured answer: %w", err)
	}
	a.hits = structured.Hits
	return a, nil
}
