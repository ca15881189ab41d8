package mcptools

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/server"

	"cairn/internal/event"
)

// unknownHarness stands for a client that does not say who it is.
const unknownHarness = "mcp"

// harnessNames maps what clients call themselves in clientInfo to what people
// call them. A name here also stands for longer ones that start with it and a
// dash.
var harnessNames = map[string]string{
	"codex-mcp-client":      "codex",
	"gemini-cli-mcp-client": "gemini",
	"qwen-cli-mcp-client":   "qwen",
	"copilot-cli":           "copilot",
	"openclaw-bundle-mcp":   "openclaw",
	"cline-core":            "cline",
	"continue-cli-client":   "continue",
	"inspector-cli":         "inspector",
	"cursor-vscode":         "cursor",
	"visual-studio-code":    "vscode",
	"windsurf-client":       "windsurf",
	"claude-ai":             "claude-desktop",
}

// harness is the name of the AI tool at the other end: given when the server
// was started, or else what the client said of itself. A model has no say in
// it.
func (d *desk) harness(ctx context.Context) string {
	if d.client != "" {
		return harnessName(d.client)
	}
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return harnessName(info.ClientInfo.Name)
	}
	if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return harnessName(s.GetClientInfo().Name)
	}
	return unknownHarness
}

// actor is whom events written for this request come from.
func (d *desk) actor(ctx context.Context) event.Actor {
	h := d.harness(ctx)
	return event.Actor{Kind: event.ActorAgent, ID: h, Harness: h}
}

func harnessName(said string) string {
	name := plainName(said)
	for known, short := range harnessNames {
		if name == known || strings.HasPrefix(name, known+"-") {
			return short
		}
	}
	return name
}

// plainName keeps letters, digits, dots and underscores in lower case, with a
// dash for whatever lies between, at most 64 bytes.
func plainName(said string) string {
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_'
	})
	name := strings.Join(words, "-")
	if name == "" {
		return unknownHarness
	}
	return strings.TrimRight(name[:min(len(name), 64)], "-")
}
