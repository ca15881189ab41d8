package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/internal/invite"
	"cairn/internal/problem"
)

func (a *app) syncCommand() *cobra.Command {
	var req api.SyncRequest
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "sync", Short: "Exchange notes with the hub or another remote now", GroupID: groupSync, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wait <= 0 {
				return usage("--wait is a time such as 30s or 5m")
			}
			ctx, stop := context.WithTimeout(cmd.Context(), wait)
			defer stop()
			err := a.sync(ctx, req)
			if ctx.Err() != nil && err != nil && problem.Of(err).Code == problem.Busy {
				return &problem.Problem{
					Code: problem.Busy, Message: "not finished in the time that --wait gives", Err: err,
					Hint: "nothing is lost: it is tried again by itself",
				}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&req.Space, "space", "", "only this space")
	cmd.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait for it")
	return cmd
}

// oneWay is push or pull.
func (a *app) oneWay(use, short string, direction api.Direction) *cobra.Command {
	req := api.SyncRequest{Direction: direction}
	cmd := &cobra.Command{
		Use: use + " [REMOTE]", Short: short, GroupID: groupSync, Args: args(0, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(given) == 1 {
				req.Remote = given[0]
			}
			return a.sync(cmd.Context(), req)
		},
	}
	cmd.Flags().StringVar(&req.Space, "space", "", "only this space")
	return cmd
}

func (a *app) sync(ctx context.Context, req api.SyncRequest) error {
	agent, done, err := a.agent(ctx, needHome)
	if err != nil {
		return err
	}
	defer done()
	results, err := agent.Sync(ctx, req)
	if err != nil {
		return err
	}
	last := worst(results)
	if last != nil && a.json {
		return last
	}
	if err := a.print(map[string]any{"synced": results}, func(w io.Writer) { writeSync(w, results, last) }); err != nil {
		return err
	}
	return last
}

func (a *app) joinCommand() *cobra.Command {
	return &cobra.Command{
		Use: "join INVITE", Short: "Enrol this machine at a hub and pull its spaces", GroupID: groupSync, Args: args(1, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			// A slip of the clipboard must not leave a home behind.
			if _, err := invite.Parse(given[0]); err != nil {
				return usage(err.Error())
			}
			agent, done, err := a.agent(cmd.Context(), createHome)
			if err != nil {
				return err
			}
			defer done()
			j, err := agent.Join(cmd.Context(), strings.TrimSpace(given[0]))
			if err != nil {
				return err
			}
			return a.print(j, func(w io.Writer) {
				fmt.Fprintf(w, "joined %s as %s, device %s\nspaces: %s\n", j.Hub, j.Person, j.Device, strings.Join(j.Spaces, ", "))
			})
		},
	}
}

func (a *app) remoteCommand() *cobra.Command {
	return group("remote", "Say where spaces are synced to", groupSync,
		a.remoteAddCommand(), a.remoteListCommand(), a.remoteRemoveCommand())
}

func (a *app) remoteAddCommand() *cobra.Command {
	r := api.Remote{Space: "personal"}
	cmd := &cobra.Command{
		Use: "add NAME URL", Short: "Sync a space with a git repository", Args: args(2, 2),
		Long: "Sync a space with a git repository: the absolute path of a bare one (the first sync makes it, if the folder\naround it is there), https://host/path, ssh://user@host/path, or user@host:path.",
		RunE: func(cmd *cobra.Command, given []string) error {
			agent, done, err := a.agent(cmd.Context(), createHome)
			if err != nil {
				return err
			}
			defer done()
			r.Name, r.URL = given[0], given[1]
			if err := agent.AddRemote(cmd.Context(), r); err != nil {
				return err
			}
			return a.print(r, func(w io.Writer) { fmt.Fprintf(w, "space %s is synced with %s\n", r.Space, r.URL) })
		},
	}
	cmd.Flags().StringVar(&r.Space, "space", r.Space, "which space")
	return cmd
}

func (a *app) remoteListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the remotes", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			list, err := agent.Remotes(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(map[string]any{"remotes": list}, func(w io.Writer) {
				for _, r := range list {
					fmt.Fprintf(w, "%-12s %-10s %s\n", r.Space, r.Name, r.URL)
				}
			})
		},
	}
}

func (a *app) remoteRemoveCommand() *cobra.Command {
	space := "personal"
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Stop syncing a space with a remote", Args: args(1, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			if err := agent.RemoveRemote(cmd.Context(), space, given[0]); err != nil {
				return err
			}
			return a.print(map[string]any{"removed": given[0]}, func(w io.Writer) { fmt.Fprintln(w, "removed; nothing that was synced is lost") })
		},
	}
	cmd.Flags().StringVar(&space, "space", space, "which space")
	return cmd
}
