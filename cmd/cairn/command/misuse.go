package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cairn/internal/problem"
)

func usage(message string) error { return problem.New(problem.Usage, message) }

// misused is what to say about a line that was not understood. cmd is as far
// as it was understood.
func misused(cmd *cobra.Command, err error) error {
	message := err.Error()
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok { // the library's words end in those of a parser
		message = fmt.Sprintf("--%s cannot be %q", bad.GetFlag().Name, bad.GetValue())
	}
	p := problem.New(problem.Usage, message)
	p.Hint = fmt.Sprintf("%q says more", cmd.CommandPath()+" --help")
	return p
}

// args is cobra.PositionalArgs with an error that names the command's form.
func args(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) < low || (high >= 0 && len(given) > high) {
			return fmt.Errorf("usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// noCommand refuses what is left of a line when no subcommand has the name.
func noCommand(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	message := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), given[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(given[0]); len(near) > 0 {
		message += fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return errors.New(message)
}

// helpCommand is cobra's, but fails on what there is no help for.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Say more about a command", GroupID: groupCare,
		RunE: func(help *cobra.Command, given []string) error {
			cmd, rest, err := help.Root().Find(given)
			if err == nil {
				err = noCommand(cmd, rest)
			}
			if err != nil {
				return misused(cmd, err)
			}
			return cmd.Help()
		},
	}
}
