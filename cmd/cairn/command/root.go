package command

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"cairn/internal/paths"
)

// Main runs one command line and returns its exit code.
func Main(args []string, env Env) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	a := &app{env: env, level: new(slog.LevelVar)}
	a.level.Set(slog.LevelWarn)
	root := a.root()
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = misused(cmd, err)
	}
	return a.finish(err)
}

// app is what the commands share: the global flags and the world.
type app struct {
	env      Env
	homeFlag string
	json     bool
	noColor  bool
	logLevel string
	level    *slog.LevelVar
	started  bool // arguments were understood, a command is running
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cairn",
		Short:         "One memory for every AI coding agent, on every machine you work on",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		Version:       Version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.started = true
			if err := a.setLevel(); err != nil {
				return err
			}
			quietLibraries(a.logger())
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.homeFlag, "home", "", "folder of this memory (default: $CAIRN_HOME, else ~/.cairn)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVar(&a.noColor, "no-color", false, "print without colors")
	flags.StringVar(&a.logLevel, "log-level", "warn", "what to log on stderr: debug, info, warn or error")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("cairn {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	root.AddGroup(
		&cobra.Group{ID: groupNotes, Title: "Notes:"},
		&cobra.Group{ID: groupKinds, Title: "Other kinds of memory:"},
		&cobra.Group{ID: groupSync, Title: "Machines and sync:"},
		&cobra.Group{ID: groupTools, Title: "AI tools and service:"},
		&cobra.Group{ID: groupCare, Title: "Care:"},
	)
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	return root
}

const (
	groupNotes = "notes"
	groupKinds = "kinds"
	groupSync  = "sync"
	groupTools = "tools"
	groupCare  = "care"
)

const rootHelp = `cairn keeps what you and your AI coding agents learn: decisions, preferences,
lessons. A note saved by one tool on one machine is found a moment later by
another tool on another machine. Everything is plain JSON in git.

  cairn note "We chose Postgres for billing"
  cairn ask which database for billing
  cairn connect claude-code          let a tool use it
  cairn join INVITE                  add this machine to a hub`

func (a *app) setLevel() error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usage("--log-level is debug, info, warn or error")
	}
	a.level.Set(l)
	return nil
}

// quietLibraries lets what libraries tell the standard logger be seen at level debug only. Bluge, say, tells it of every file
// that another process replaced while it was reading; what matters it returns as well.
func quietLibraries(log *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(log)
}

// logger writes to stderr, never to stdout.
func (a *app) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: a.level}))
}

func (a *app) home() (paths.Home, error) {
	h, err := paths.Find(a.homeFlag, a.env.GOOS, a.env.Getenv)
	if err != nil {
		return "", usage(err.Error())
	}
	return h, nil
}

// group is a command that only has subcommands.
func group(use, short, id string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, GroupID: id, Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(subs...)
	return c
}
