package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/problem"
)

func (a *app) initCommand() *cobra.Command {
	var space string
	cmd := &cobra.Command{
		Use: "init", Short: "Make this machine's memory", GroupID: groupCare, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.home()
			if err != nil {
				return err
			}
			made, err := a.makeHome(cmd.Context(), home)
			if err != nil {
				return err
			}
			if space != "" {
				agent, done, err := a.agent(cmd.Context(), needHome)
				if err != nil {
					return err
				}
				defer done()
				if err := agent.CreateSpace(cmd.Context(), space); err != nil {
					return err
				}
			}
			result := map[string]any{"home": home, "created": made}
			if space != "" {
				result["space"] = space
			}
			return a.print(result, func(w io.Writer) {
				if made {
					fmt.Fprintf(w, "made a memory in %s\n", home)
				} else {
					fmt.Fprintf(w, "there is a memory in %s already\n", home)
				}
				if space != "" {
					fmt.Fprintf(w, "it has the space %s\n", space)
				}
			})
		},
	}
	cmd.Flags().StringVar(&space, "space", "", "also make this space")
	return cmd
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show spaces, sync, index and agent", GroupID: groupCare, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			s, err := agent.Status(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(s, func(w io.Writer) { writeStatus(w, s) })
		},
	}
}

func writeStatus(w io.Writer, s api.Status) {
	fmt.Fprintf(w, "home    %s\ndevice  %s\n", s.Home, s.Device)
	if s.Agent.Running {
		fmt.Fprintf(w, "agent   running, version %s, pid %d\n", s.Agent.Version, s.Agent.PID)
	} else {
		fmt.Fprintln(w, "agent   not running; it starts when it is needed")
	}
	if s.Hub != "" {
		fmt.Fprintf(w, "hub     %s\n", s.Hub)
	}
	if s.Rebuild != nil {
		fmt.Fprintf(w, "index   %s\n", rebuildWords(*s.Rebuild))
	}
	if s.Embedder != "" {
		fmt.Fprintf(w, "meaning %s\n", s.Embedder)
	}
	for _, sp := range s.Spaces {
		writeSpace(w, sp)
	}
	if p := s.Policy; p != nil {
		fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("policy  version %d %s", p.Number, oneLine(p.Problem))))
	}
	if s.Judging != nil {
		fmt.Fprintf(w, "        judging what is there by it: %d of %d\n", s.Judging.Done, s.Judging.Total)
	}
	if s.Refused > 0 {
		fmt.Fprintf(w, "%d refused: see \"cairn refused\"\n", s.Refused)
	}
}

func events(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

func writeSpace(w io.Writer, s api.SpaceStatus) {
	fmt.Fprintf(w, "%-12s %s", s.Name, events(s.Events))
	if s.Indexed != s.Events {
		fmt.Fprintf(w, ", %d indexed", s.Indexed)
	}
	if s.Purged > 0 && s.PurgedAt != nil {
		fmt.Fprintf(w, ", %d purged for good, last on %s", s.Purged, s.PurgedAt.Local().Format("2006-01-02"))
	}
	if s.Held > 0 && s.HeldUntil != nil {
		fmt.Fprintf(w, ", %d held until %s because a clock runs ahead", s.Held, s.HeldUntil.Local().Format("2006-01-02 15:04:05"))
	}
	if s.Damaged > 0 {
		fmt.Fprintf(w, ", %d damaged: see \"cairn doctor --deep\"", s.Damaged)
	}
	if s.Remote == "" {
		fmt.Fprintln(w, ", on this machine only")
		return
	}
	fmt.Fprintf(w, ", synced with %s", s.Remote)
	if s.LastSync != nil {
		fmt.Fprintf(w, " at %s", s.LastSync.Local().Format("2006-01-02 15:04:05"))
	}
	if s.Ahead > 0 {
		fmt.Fprintf(w, ", %d waiting to be pushed", s.Ahead)
	}
	if s.Behind > 0 {
		fmt.Fprintf(w, ", %d waiting to be pulled", s.Behind)
	}
	fmt.Fprintln(w)
	if s.LastError != "" {
		fmt.Fprintf(w, "%-12s %s\n", "", oneLine(s.LastError))
	}
}

func (a *app) doctorCommand() *cobra.Command {
	var deep, prove bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything", GroupID: groupCare, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			var report api.Report
			err = a.showing(cmd.Context(), agent, func() (err error) {
				report, err = agent.Doctor(cmd.Context(), deep)
				return err
			})
			if err != nil {
				return err
			}
			if prove {
				if report, err = proveToo(cmd.Context(), report); err != nil {
					return err
				}
			}
			if err := a.print(report, func(w io.Writer) { writeReport(w, report) }); err != nil {
				return err
			}
			if !report.OK {
				return &silentError{1}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "also rebuild the index from git")
	cmd.Flags().BoolVar(&prove, "prove", false, "also spoil memories in a scratch folder and require that the checks notice; a hub's clock and purges are not among them")
	return cmd
}

// proveToo adds to a report whether its checks notice what they are for.
func proveToo(ctx context.Context, report api.Report) (api.Report, error) {
	proven, err := agent.Prove(ctx)
	report.OK = report.OK && proven.OK
	report.Checks = append(report.Checks, proven.Checks...)
	return report, err
}

func writeReport(w io.Writer, r api.Report) {
	for _, c := range r.Checks {
		mark := "ok  "
		if !c.OK {
			mark = "BAD "
		}
		fmt.Fprintf(w, "%s %-16s %s\n", mark, c.Name, oneLine(c.Detail))
		if !c.OK && c.Fix != "" {
			fmt.Fprintf(w, "     %-16s %s\n", "", oneLine(c.Fix))
		}
	}
}

func (a *app) refusedCommand() *cobra.Command {
	var dismiss string
	cmd := &cobra.Command{
		Use: "refused", Short: "List notes that a gate refused, with the reason", GroupID: groupSync, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			if dismiss != "" {
				if err := agent.Dismiss(cmd.Context(), dismiss); err != nil {
					return err
				}
				return a.print(map[string]any{"dismissed": dismiss}, func(w io.Writer) { fmt.Fprintln(w, "dismissed") })
			}
			list, err := agent.Refused(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(map[string]any{"refused": list}, func(w io.Writer) { writeRefused(w, list) })
		},
	}
	cmd.Flags().StringVar(&dismiss, "dismiss", "", "take this one off the list")
	return cmd
}

func fingerprintWords(f string) string {
	if f == "" {
		return ""
	}
	return ", fingerprint " + f
}

func writeRefused(w io.Writer, list []api.Refusal) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing was refused")
	}
	for _, r := range list {
		fmt.Fprintf(w, "%s  %s  %s in %s, refused by the %s: rule %s, field %s%s\n",
			r.ID.Short(), r.At.Local().Format("2006-01-02 15:04"), cmp.Or(string(r.Kind), "event"), r.Space, r.By, r.Rule, r.Field, fingerprintWords(r.Fingerprint))
		if r.Hint != "" {
			fmt.Fprintln(w, "    "+oneLine(r.Hint))
		}
	}
}

func (a *app) digestCommand() *cobra.Command {
	max := defaultDigest
	cmd := &cobra.Command{
		Use: "digest", Short: "Print the list of pointers that tools load at their start", GroupID: groupTools, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if max < 1 || max > maxDigest {
				return usage(fmt.Sprintf("--bytes is between 1 and %d", maxDigest))
			}
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			text, err := agent.Digest(cmd.Context(), max)
			if err != nil {
				return err
			}
			return a.print(map[string]any{"digest": text}, func(w io.Writer) { io.WriteString(w, text) })
		},
	}
	cmd.Flags().IntVar(&max, "bytes", max, "how long it may be")
	return cmd
}

// The digest's budget in bytes: some tools cut a longer text at their start.
const (
	defaultDigest = 4096
	maxDigest     = 8000
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", GroupID: groupCare, Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return a.print(map[string]any{"version": Version()}, func(w io.Writer) { fmt.Fprintln(w, "cairn "+Version()) })
		},
	}
}

// worst is the problem to end with when several spaces were synced.
func worst(results []api.SyncResult) error {
	for _, code := range []problem.Code{problem.HubRefused, problem.Offline} {
		for _, r := range results {
			if r.Problem != nil && r.Problem.Code == code {
				return r.Problem
			}
		}
	}
	for _, r := range results {
		if r.Problem != nil {
			return r.Problem
		}
	}
	return nil
}

// writeSync says what became of each space. The problem that the command ends
// with is said there.
func writeSync(w io.Writer, results []api.SyncResult, last error) {
	if len(results) == 0 {
		fmt.Fprintln(w, `nothing to sync: no space has a remote ("cairn join" or "cairn remote add" gives it one)`)
	}
	for _, r := range results {
		fmt.Fprintf(w, "%-12s %s: %d pushed, %d pulled", r.Space, r.Remote, r.Pushed, r.Pulled)
		if n := len(r.Refused); n > 0 {
			fmt.Fprintf(w, ", %d refused", n)
		}
		if r.Held > 0 {
			fmt.Fprintf(w, ", %d held back by a clock that runs ahead", r.Held)
		}
		if r.Problem == nil {
			fmt.Fprintln(w)
			continue
		}
		fmt.Fprintln(w, ", not finished")
		if r.Problem != last {
			fmt.Fprintln(w, "             "+oneLine(r.Problem.Message))
		}
	}
}
