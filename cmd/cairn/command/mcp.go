package command

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/agent/mcptools"
)

func (a *app) mcpCommand() *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve MCP over standard input and output", GroupID: groupTools, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), client) },
	}
	cmd.Flags().StringVar(&client, "client", "", "the AI tool that starts this, recorded with what it saves")
	return cmd
}

// serveCommand is the older spelling of mcp.
func (a *app) serveCommand() *cobra.Command {
	var mcp bool
	cmd := &cobra.Command{
		Use: "serve --mcp", Short: "The same as mcp", Hidden: true, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !mcp {
				return usage("usage: cairn serve --mcp")
			}
			return a.serveMCP(cmd.Context(), "")
		},
	}
	cmd.Flags().BoolVar(&mcp, "mcp", false, "serve MCP over standard input and output")
	return cmd
}

func (a *app) serveMCP(ctx context.Context, client string) error {
	desk := keptAgent{app: a}
	defer desk.close()
	return mcptools.Serve(ctx, mcptools.Options{
		Connect: desk.agent,
		In:      a.env.Stdin, Out: a.env.Stdout, Log: a.logger(),
		Client: client, Version: Version(),
	})
}

// keptAgent is the agent for the calls of one client. It connects with the
// first call, and again when the agent has ended meanwhile.
type keptAgent struct {
	app *app

	mu   sync.Mutex
	held api.Agent
	done func()
}

// pinger is an agent in another process.
type pinger interface {
	Alive(context.Context) bool
}

func (k *keptAgent) agent(ctx context.Context) (api.Agent, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != nil {
		p, remote := k.held.(pinger)
		if !remote || p.Alive(ctx) {
			return k.held, nil
		}
		k.done()
		k.held = nil
	}
	held, done, err := k.app.agent(ctx, createHome)
	if err != nil {
		return nil, err
	}
	k.held, k.done = held, done
	return held, nil
}

func (k *keptAgent) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != nil {
		k.done()
		k.held = nil
	}
}
