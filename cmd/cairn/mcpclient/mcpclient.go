package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"cairn/agent/api"
	"cairn/internal/paths"
)

// A Client is a session with one server process.
type Client struct{ mcp *client.Client }

// An Answer is what a tool answered.
type Answer struct {
	Text string    // on one line
	Hits []api.Hit // of a tool that lists
}

// A ToolError is a tool's no; the session goes on.
type ToolError struct{ Text string }

func (e *ToolError) Error() string { return e.Text }

// Start starts program as the server of a home and returns when it has
// answered the first request. name is what the tool calls itself. The caller
// closes the client, which ends the server.
func Start(ctx context.Context, program string, home paths.Home, name string) (*Client, error) {
	c, err := client.NewStdioMCPClient(program, os.Environ(), "mcp", "--home", string(home))
	if err != nil {
		return nil, fmt.Errorf("start the MCP server: %w", err)
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: name, Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(fmt.Errorf("initialize: %w", err), c.Close())
	}
	return &Client{c}, nil
}

// Call calls a tool. The error is a *ToolError if the tool itself said no.
func (c *Client) Call(ctx context.Context, tool string, args map[string]any) (Answer, error) {
	call := mcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = tool, args
	r, err := c.mcp.CallTool(ctx, call)
	if err != nil {
		return Answer{}, fmt.Errorf("call %s: %w", tool, err)
	}
	return read(r)
}

// Close ends the session and waits until the server has ended.
func (c *Client) Close() error { return c.mcp.Close() }

func read(r *mcp.CallToolResult) (Answer, error) {
	var text []string
	for _, part := range r.Content {
		if t, ok := part.(mcp.TextContent); ok {
			text = append(text, t.Text)
		}
	}
	a := Answer{Text: strings.Join(strings.Fields(strings.Join(text, " ")), " ")}
	if r.IsError {
		return Answer{}, &ToolError{a.Text}
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return Answer{}, fmt.Errorf("read the structured answer: %w", err)
	}
	var structured api.Answer
	if err := json.Unmarshal(b, &structured); err != nil {
		return Answer{}, fmt.Errorf("read the structured answer: %w", err)
	}
	a.Hits = structured.Hits
	return a, nil
}
