package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/installers/background"
	"cairn/internal/paths"
)

// idleEnd is after how long without a caller an agent that was started on
// demand ends.
const idleEnd = 10 * time.Minute

// withoutGit is an environment without git's own variables, which a hook that
// runs us may have set for another repository.
func withoutGit(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "GIT_") {
			kept = append(kept, v)
		}
	}
	return kept
}

func (a *app) agentCommand() *cobra.Command {
	return group("agent", "The background process that owns this memory", groupTools,
		a.agentRunCommand(), a.agentStartCommand(), a.agentStopCommand(), a.agentStatusCommand(),
		a.serviceCommand("install", "Start the agent at every login", (background.Manager).Install),
		a.serviceCommand("uninstall", "No longer start the agent at login", (background.Manager).Uninstall),
	)
}

func (a *app) agentRunCommand() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use: "run", Short: "Run in the foreground", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			home, err := a.home()
			if err != nil {
				return err
			}
			if _, err := a.makeHome(cmd.Context(), home); err != nil {
				return err
			}
			log := a.logger()
			if idle > 0 { // nobody sees our stderr
				f, err := openLog(home)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				log = slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelInfo}))
			}
			beModest(cmd.Context())
			return agent.Run(cmd.Context(), agent.Options{Home: home, Version: Version(), Log: log}, idle)
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", 0, "end after this long without a caller, and log to a file in the home")
	return cmd
}

// maxLog is when the agent's log starts over.
const maxLog = 4 << 20

func openLog(home paths.Home) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(home.AgentLog()); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(home.AgentLog(), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's log: %w", err)
	}
	return f, nil
}

func (a *app) agentStartCommand() *cobra.Command {
	return &cobra.Command{
		Use: "start", Short: "Start the agent", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.home()
			if err != nil {
				return err
			}
			if _, err := a.makeHome(cmd.Context(), home); err != nil {
				return err
			}
			_, done, err := agent.Connect(cmd.Context(), a.connection(home))
			if err != nil {
				return err
			}
			done()
			return a.printAgent(cmd.Context(), home)
		},
	}
}

func (a *app) agentStopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the agent; it starts again when it is needed", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.home()
			if err != nil {
				return err
			}
			before, err := agent.Find(cmd.Context(), home)
			if err != nil {
				return err
			}
			if err := agent.Stop(cmd.Context(), home); err != nil {
				return err
			}
			after, err := agent.Find(cmd.Context(), home)
			if err != nil {
				return err
			}
			return a.print(after, func(w io.Writer) {
				if before.Running && !after.Running {
					fmt.Fprintln(w, "stopped; it starts again when it is needed")
				} else {
					writeAgent(w, after)
				}
			})
		},
	}
}

func (a *app) agentStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether the agent runs", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.home()
			if err != nil {
				return err
			}
			return a.printAgent(cmd.Context(), home)
		},
	}
}

func (a *app) printAgent(ctx context.Context, home paths.Home) error {
	p, err := agent.Find(ctx, home)
	if err != nil {
		return err
	}
	return a.print(p, func(w io.Writer) { writeAgent(w, p) })
}

func writeAgent(w io.Writer, p api.Process) {
	if p.Running {
		fmt.Fprintf(w, "running, version %s, pid %d\n", p.Version, p.PID)
	} else {
		fmt.Fprintln(w, "not running; it starts when it is needed")
	}
}

// serviceCommand does something with the background service.
func (a *app) serviceCommand(use, short string, do func(background.Manager, context.Context) error) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.home()
			if err != nil {
				return err
			}
			program, err := a.env.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			m, err := background.New(background.Spec{Binary: program, Home: string(home)}, a.env.GOOS)
			if err != nil {
				return err
			}
			if dry {
				_, err := io.WriteString(a.env.Stdout, m.Preview())
				return err
			}
			if err := do(m, cmd.Context()); err != nil {
				return err
			}
			return a.print(map[string]any{"done": use}, func(w io.Writer) { fmt.Fprintln(w, "done") })
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only show the service's definition")
	return cmd
}
