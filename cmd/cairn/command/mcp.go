package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cairn/agent/localapi"
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
		Lost:    func(err error) bool { return errors.Is(err, localapi.ErrLost) || errors.Is(err, localapi.ErrHung) },
		In:      a.env.Stdin, Out: a.env.Stdout, Log: a.logger(),
		Client: client, Version: Version(),
	})
}
