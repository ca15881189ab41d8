package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent/mcptools"
)

func (a *app) hookCommand() *cobra.Command {
	return group("hook", "What an AI tool's hooks run", groupTools, a.sessionStartCommand())
}

// hookLimit is how long a session start may wait for the digest: a tool that
// waits longer may drop what it gets, and the start must not feel slow.
const hookLimit = 80 * time.Millisecond

func (a *app) sessionStartCommand() *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use: "session-start", Short: "Print the digest and the protocol in a tool's own form", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Nothing here may stop the tool: without a digest the protocol
			// is said alone.
			text := mcptools.Instructions
			if digest := a.hookDigest(cmd.Context()); digest != "" {
				text += "\n\n" + digest
			}
			return writeEnvelope(a.env.Stdout, client, text)
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the tool: "+strings.Join(toolNames(), ", "))
	return cmd
}

// hookDigest asks a running agent for the digest and gives up soon.
func (a *app) hookDigest(ctx context.Context) string {
	ctx, stop := context.WithTimeout(ctx, hookLimit)
	defer stop()
	agent, done, err := a.agent(ctx, runningAgent)
	if err != nil {
		a.logger().Debug("no digest for the hook", "err", err)
		return ""
	}
	defer done()
	digest, err := agent.Digest(ctx, defaultDigest)
	if err != nil {
		a.logger().Debug("no digest for the hook", "err", err)
		return ""
	}
	return digest
}

// writeEnvelope writes text in the form in which a tool takes what its hook
// says at the start.
func writeEnvelope(w io.Writer, client, text string) error {
	switch client {
	case "claude-code", "codex", "gemini", "qwen", "vscode":
		return writeJSON(w, map[string]any{"hookSpecificOutput": map[string]string{
			"hookEventName": "SessionStart", "additionalContext": text,
		}})
	case "cursor":
		return writeJSON(w, map[string]string{"additional_context": text})
	case "copilot":
		return writeJSON(w, map[string]string{"additionalContext": text})
	case "hermes":
		return writeJSON(w, map[string]string{"context": text})
	default:
		_, err := fmt.Fprintln(w, text)
		return err
	}
}
