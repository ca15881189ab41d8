package mcptools_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"cairn/agent/api"
	"cairn/agent/mcptools"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func options(a api.Agent) mcptools.Options {
	return mcptools.Options{
		Connect: func(context.Context) (api.Agent, error) { return a, nil },
		Log:     quiet,
		Version: "1.2.3",
	}
}

// connect is an initialized client of a server for a, called name.
func connect(t *testing.T, opts mcptools.Options, name string) *client.Client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	opts.In, opts.Out = fromClient, toClient
	served := make(chan error, 1)
	go func() { served <- mcptools.Serve(context.Background(), opts) }()
	c := client.NewClient(transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader(""))))
	t.Cleanup(func() {
		c.Close()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		toClient.Close()
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-06-18"
	hello.Params.ClientInfo = mcp.Implementation{Name: name, Version: "0"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

type args = map[string]any

// use calls a tool and returns its result, whatever it is.
func use(t *testing.T, c *client.Client, tool string, a args) *mcp.CallToolResult {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = tool, a
	result, err := c.CallTool(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return result
}

// get calls a tool that must do its work. It returns the words and decodes
// the JSON of the answer.
func get(t *testing.T, c *client.Client, tool string, a args, into any) string {
	t.Helper()
	result := use(t, c, tool, a)
	if result.IsError {
		t.Fatalf("%s: %s", tool, words(result))
	}
	checkOutput(t, tool, result.RawStructuredContent)
	if into != nil {
		if err := json.Unmarshal(result.RawStructuredContent, into); err != nil {
			t.Fatal(err)
		}
	}
	return words(result)
}

// words are the texts of a result, one below the other.
func words(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(mcp.TextContent).Text)
	}
	return strings.Join(all, "\n")
}

// An exchange is what a server wrote for some input, line by line.
type exchange struct {
	lines []answer
	err   error
}

type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// send serves input to its end. Every line of the output must be protocol.
func send(t *testing.T, opts mcptools.Options, input io.Reader) exchange {
	t.Helper()
	var out bytes.Buffer
	opts.In, opts.Out = input, &out
	err := mcptools.Serve(t.Context(), opts)
	return exchange{lines: protocolLines(t, out.Bytes()), err: err}
}

func protocolLines(t *testing.T, out []byte) []answer {
	t.Helper()
	var lines []answer
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var a answer
		if err := json.Unmarshal(scan.Bytes(), &a); err != nil || a.JSONRPC != "2.0" {
			t.Fatalf("not protocol: %q", scan.Text())
		}
		lines = append(lines, a)
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		t.Fatalf("the last line has no end: %q", out[max(0, len(out)-100):])
	}
	return lines
}

// ids are the ids of the answers, sorted, with the code of an error.
func (e exchange) ids() string {
	var all []string
	for _, a := range e.lines {
		id := string(a.ID)
		if a.Error != nil {
			id += fmt.Sprint(" ", a.Error.Code)
		}
		all = append(all, id)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func callLine(id, tool string, a args) string {
	b, err := json.Marshal(args{"name": tool, "arguments": a})
	if err != nil {
		panic(err)
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + string(b) + "}\n"
}
