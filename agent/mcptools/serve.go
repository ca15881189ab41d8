package mcptools

import (
	"context"
	"io"
	"log/slog"

	"github.com/mark3labs/mcp-go/server"

	"cairn/agent/api"
)

// Options are what a server needs to know.
type Options struct {
	// Connect returns the agent to ask. It is called for every call that needs
	// one, from several goroutines, never for initialize, ping or a list; so it
	// may start an agent, and should keep what it has connected to.
	Connect func(context.Context) (api.Agent, error)
	// Lost says of an error that the agent went away or hung during the call.
	// Such a call is made once more, on what Connect returns then: saving and
	// revising again does no harm. nil means never.
	Lost func(error) bool
	// In and Out carry the protocol, one message a line.
	In  io.Reader
	Out io.Writer
	// Log must not lead to Out; nil means slog.Default.
	Log *slog.Logger
	// Client is the AI tool that started this server, if it is known better
	// than by what it calls itself.
	Client string
	// Version is that of the program.
	Version string
}

// Serve answers one client until its input ends, Out fails or ctx ends, and
// returns nil in the first case and the last. Requests that are at work then
// are waited for: ten seconds at the end of the input (*UnansweredError if
// that was not enough), two when ctx ends. A Read of In that blocks when ctx
// ends is left behind.
func Serve(ctx context.Context, opts Options) error {
	log := opts.Log
	if log == nil {
		log = slog.Default()
	}
	s := newSession(newServer(opts, log), opts.Out, log)
	return s.run(ctx, opts.In)
}

// newServer is the protocol server with all that we offer.
func newServer(opts Options, log *slog.Logger) *server.MCPServer {
	hooks := &server.Hooks{}
	hooks.AddBeforeCallTool(renameOld)
	srv := server.NewMCPServer("cairn", opts.Version,
		server.WithTitle("cairn"),
		server.WithDescription("Memory shared by your AI tools and machines"),
		server.WithInstructions(Instructions),
		// The tools never change, so nobody needs to be told.
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithHooks(hooks),
	)
	d := &desk{connect: opts.Connect, lost: opts.Lost, client: opts.Client, version: opts.Version, log: log}
	for _, t := range tools() {
		srv.AddTool(t.describe(), d.handle(t))
	}
	srv.AddResource(digestResource(), d.readDigest)
	return srv
}
