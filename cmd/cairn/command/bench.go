package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"cairn/cmd/cairn/bench"
	"cairn/internal/measure"
	"cairn/internal/paths"
)

func (a *app) benchCommand() *cobra.Command {
	c := group("bench", "Measure on this machine, in a scratch folder", groupCare)
	for _, b := range bench.All() {
		c.AddCommand(a.benchOne(b))
	}
	c.AddCommand(a.benchRecall(), a.benchGit(), a.benchAppend(), a.benchSave(), a.benchScannerStart())
	return c
}

func (a *app) benchOne(b bench.Bench) *cobra.Command {
	var opt bench.Options
	cmd := &cobra.Command{
		Use: b.Name, Short: b.About, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.Notes < 0 || opt.Runs < 0 {
				return usage("--notes and --runs are how many: give at least 1")
			}
			r, err := a.runBench(cmd, b, opt)
			if err != nil {
				return err
			}
			return a.print(r, r.WriteTable)
		},
	}
	cmd.Flags().IntVar(&opt.Notes, "notes", b.Notes, "notes that are stored first, at least 100")
	cmd.Flags().IntVar(&opt.Runs, "runs", b.Runs, "how often each thing is done")
	return cmd
}

func (a *app) runBench(cmd *cobra.Command, b bench.Bench, opt bench.Options) (r measure.Report, err error) {
	if opt.Program, err = a.env.Executable(); err != nil {
		return r, fmt.Errorf("find this program: %w", err)
	}
	if a.env.Terminal {
		opt.Progress = a.progress
		defer a.progress("")
	}
	return b.Run(cmd.Context(), opt)
}

func (a *app) benchGit() *cobra.Command {
	return &cobra.Command{
		Use: bench.GitCommand + " REPORT ARG...", Short: "A part of the benches beside git", Hidden: true,
		Args: args(2, -1), DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, given []string) error {
			return bench.Git(cmd.Context(), given[0], given[1:], a.env.Stdin, a.env.Stdout, a.env.Stderr)
		},
	}
}

func (a *app) benchAppend() *cobra.Command {
	return &cobra.Command{
		Use: bench.AppendCommand + " DIR COUNT", Short: "A part of bench store", Hidden: true, Args: args(2, 2),
		RunE: func(cmd *cobra.Command, given []string) error {
			return bench.Append(cmd.Context(), given[0], given[1], a.env.Stdin, a.env.Stdout)
		},
	}
}

func (a *app) benchSave() *cobra.Command {
	return &cobra.Command{
		Use: bench.SaveCommand + " HOME COUNT NUMBER", Short: "A part of bench note", Hidden: true, Args: args(3, 3),
		RunE: func(cmd *cobra.Command, given []string) error {
			return bench.Save(cmd.Context(), paths.Home(given[0]), given[1], given[2], a.env.Stdin, a.env.Stdout)
		},
	}
}

func (a *app) benchScannerStart() *cobra.Command {
	return &cobra.Command{
		Use: bench.ScannerStartCommand, Short: "A part of bench gate", Hidden: true, Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error { return bench.ScannerStart(a.env.Stdout) },
	}
}
