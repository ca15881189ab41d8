package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent/briefing"
	"cairn/agent/mcptools"
	"cairn/internal/disk"
)

func (a *app) hookCommand() *cobra.Command {
	return group("hook", "What an AI tool's hooks run", groupTools, a.sessionStartCommand())
}

// hookLimit is how long a session start may wait for others: a tool that waits
// longer may drop what it gets, and the start must not feel slow.
const hookLimit = 60 * time.Millisecond

// digestHead says what follows: a model sees nothing of where it came from.
const digestHead = "The newest memories, by id, date and title; show reads one in full:\n"

func (a *app) sessionStartCommand() *cobra.Command {
	var client string
	cmd := &cobra.Command{
		Use: "session-start", Short: "Print the digest and the protocol in a tool's own form", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := context.WithTimeout(cmd.Context(), hookLimit)
			defer stop()
			if a.briefed(ctx, client) {
				return writeJSON(a.env.Stdout, struct{}{})
			}
			// Nothing here may stop the tool: without a digest the protocol
			// is said alone.
			text := mcptools.Instructions
			if digest := a.hookDigest(ctx); digest != "" {
				text += "\n\n" + digestHead + digest
			}
			return writeEnvelope(a.env.Stdout, client, text)
		},
	}
	cmd.Flags().StringVar(&client, "client", "", "the tool: "+strings.Join(toolNames(), ", "))
	return cmd
}

// everyTurn are the tools that have no hook for the start of a session and run
// this one before each turn.
var everyTurn = []string{"hermes"}

// briefed says whether the tool has been told all this in the same session.
func (a *app) briefed(ctx context.Context, client string) bool {
	if !slices.Contains(everyTurn, client) {
		return false
	}
	session := a.hookSession(ctx)
	home, err := a.home()
	if err != nil || session == "" {
		return false
	}
	first, err := briefing.First(disk.OS, home, client, session, time.Now())
	if err != nil {
		a.logger().Debug("it is not known whether this session was told before", "err", err)
		return false
	}
	return !first
}

// hookSession is the session that a tool names on standard input; empty if it
// names none in time.
func (a *app) hookSession(ctx context.Context) string {
	named := make(chan string, 1)
	go func() { named <- sessionIn(a.env.Stdin) }() // left behind if nobody writes
	select {
	case session := <-named:
		return session
	case <-ctx.Done():
		return ""
	}
}

// sessionIn finds the member session_id of a JSON object. It reads no further:
// a whole conversation may follow.
func sessionIn(r io.Reader) string {
	dec := json.NewDecoder(r)
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return ""
		}
		var session string
		if name == "session_id" && json.Unmarshal(value, &session) == nil {
			return session
		}
	}
	return ""
}

// hookDigest is the digest of a running agent, or, when none answers soon, the
// one that the last agent left.
func (a *app) hookDigest(ctx context.Context) string {
	digest, err := a.agentDigest(ctx)
	if err == nil {
		return digest
	}
	a.logger().Debug("no agent says the digest", "err", err)
	home, err := a.home()
	if err == nil {
		digest, err = briefing.Kept(disk.OS, home)
	}
	if err != nil {
		a.logger().Debug("no digest for the hook", "err", err)
	}
	return digest
}

func (a *app) agentDigest(ctx context.Context) (string, error) {
	agent, done, err := a.agent(ctx, runningAgent)
	if err != nil {
		return "", err
	}
	defer done()
	return agent.Digest(ctx, defaultDigest)
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
