package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cairn/cmd/cairn/demo"
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Show the whole product on this machine, in a scratch folder", GroupID: groupCare, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := a.env.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			out := a.env.Stdout
			if a.json {
				out = io.Discard
			}
			r, err := demo.Run(cmd.Context(), demo.Options{Program: program, Out: out, Keep: keep})
			if err != nil {
				return err
			}
			return a.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "every step held, in %.1f s\n", r.MS/1000)
				if r.Folder != "" {
					fmt.Fprintln(w, "kept in "+r.Folder)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the scratch folder")
	return cmd
}
