package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/hub"
	"cairn/internal/problem"
	"cairn/policy/desk"
	"cairn/policy/rules"
	"cairn/policy/versions"
)

// policyLife are the commands of a policy's life: under "policy" they go to
// the hub that this machine has joined, under "hub policy" to that of --data
// DIR as well, where they sign with the hub's own key.
func (a *app) policyLife(atHub bool) []*cobra.Command {
	commands := []*cobra.Command{
		a.policyShowCommand(), a.policyLogCommand(), a.policyPushCommand(), a.policyApproveCommand(), a.policyRollbackCommand(),
		a.policyExplainCommand(),
	}
	for _, c := range commands {
		c.Flags().String("data", "", "the hub's folder, on the hub's own machine")
		if !atHub {
			if err := c.Flags().MarkHidden("data"); err != nil {
				panic(err) // the flag is defined above
			}
		}
	}
	return commands
}

// hubPolicyCommand is the policy as one of the hub's verbs.
func (a *app) hubPolicyCommand() *cobra.Command {
	return group("policy", "Look after the team's policy, at the hub or from an admin's machine", "", a.policyLife(true)...)
}

// atDesk does something with the policy and prints what came of it.
func (a *app) atDesk(cmd *cobra.Command, do func(context.Context, desk.Desk) (fmt.Stringer, error)) (err error) {
	data, err := cmd.Flags().GetString("data")
	if err != nil {
		return err
	}
	d, done, err := a.openDesk(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	result, err := do(cmd.Context(), d)
	if err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) { fmt.Fprint(w, harmless(result.String())) })
}

func (a *app) openDesk(data string) (desk.Desk, func() error, error) {
	if data != "" {
		h, err := hub.Open(data, hub.Options{Log: a.logger()})
		if err != nil {
			return desk.Desk{}, nil, err
		}
		return h.Admin().PolicyDesk(), h.Close, nil
	}
	home, err := a.home()
	if err != nil {
		return desk.Desk{}, nil, err
	}
	return agent.PolicyDesk(home)
}

func (a *app) policyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [N]", Short: "Show the policy in force, or version N", Args: args(0, 1),
		RunE: func(cmd *cobra.Command, words []string) error {
			n := 0
			if len(words) == 1 {
				var err error
				if n, err = versionNumber(words[0]); err != nil {
					return err
				}
			}
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) {
				shown, err := d.Show(ctx, n)
				if kept, ok := a.keptPolicy(err); ok && n == 0 {
					return kept, nil
				}
				return shown, err
			})
		},
	}
}

// keptPolicy is what this machine applies, for when the hub is out of reach.
func (a *app) keptPolicy(err error) (desk.Shown, bool) {
	if p := problem.Of(err); p == nil || p.Code != problem.Offline {
		return desk.Shown{}, false
	}
	home, err := a.home()
	if err != nil {
		return desk.Shown{}, false
	}
	return agent.KeptPolicy(home)
}

func (a *app) policyLogCommand() *cobra.Command {
	return &cobra.Command{
		Use: "log", Short: "List every version of the policy, newest first", Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) { return d.Log(ctx) })
		},
	}
}

func (a *app) policyPushCommand() *cobra.Command {
	var replace bool
	var t desk.Trying
	cmd := &cobra.Command{
		Use: "push FILE", Short: "Sign a policy file as the next version", Args: args(1, 1),
		Long: `Sign a policy file as the next version. It is in force at once if your signature is enough;
otherwise it waits until another admin approves it. The hub tries it on every event that it has, which
a policy never changes, and says what would be refused that passes now, what would pass that is refused
now, who gains and loses rights, and which lines do nothing. That keeps no version back; with --strict the
hub takes it only if nothing is newly refused that --accept does not name.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			file, err := readPolicyFile(words[0])
			if err == nil {
				err = sound(t)
			}
			if err != nil {
				return err
			}
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) {
				d.Trying = t
				return d.Push(ctx, file, replace)
			})
		},
	}
	replaceFlag(cmd, &replace)
	tryingFlags(cmd, &t)
	return cmd
}

func tryingFlags(cmd *cobra.Command, t *desk.Trying) {
	cmd.Flags().BoolVar(&t.Strict, "strict", false, "only if no event is newly refused that is not accepted")
	cmd.Flags().StringArrayVar(&t.Accept, "accept", nil, "with --strict: an event that may be newly refused, to be redacted; once for each")
	cmd.Flags().BoolVar(&t.Untested, "untested", false, "do not try it on the events that are there")
}

func sound(t desk.Trying) error {
	switch {
	case t.Strict && t.Untested:
		return usage("--strict takes what was tried, --untested tries nothing")
	case len(t.Accept) > 0 && !t.Strict:
		return usage("--accept is for --strict: without it nothing keeps the version back")
	}
	return nil
}

func replaceFlag(cmd *cobra.Command, replace *bool) {
	cmd.Flags().BoolVar(replace, "replace", false, "take the place of a proposal that waits")
}

// readPolicyFile reads no more than a policy file may have, and a byte.
func readPolicyFile(path string) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("the policy file cannot be read: " + err.Error())
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, rules.MaxFile+1))
}

func (a *app) policyApproveCommand() *cobra.Command {
	var sum string
	var t desk.Trying
	cmd := &cobra.Command{
		Use: "approve N", Short: "Sign the proposal that waits under a number", Args: args(1, 1),
		Long: `Sign the proposal that waits under a number; "cairn policy show N" prints its file.
With enough signatures it is in force at once. The hub tries it as it does with "push".`,
		RunE: func(cmd *cobra.Command, words []string) error {
			n, err := versionNumber(words[0])
			if err == nil {
				err = sound(t)
			}
			if err != nil {
				return err
			}
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) {
				d.Trying = t
				return d.Approve(ctx, n, sum)
			})
		},
	}
	cmd.Flags().StringVar(&sum, "sha256", "", "only if the file's hash begins with this")
	tryingFlags(cmd, &t)
	return cmd
}

func (a *app) policyRollbackCommand() *cobra.Command {
	var replace bool
	var t desk.Trying
	cmd := &cobra.Command{
		Use: "rollback N", Short: "Sign the file of version N as the next version", Args: args(1, 1),
		Long: `Sign the file of version N as the next version. It takes a new number, and as many signatures as any other.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			n, err := versionNumber(words[0])
			if err == nil {
				err = sound(t)
			}
			if err != nil {
				return err
			}
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) {
				d.Trying = t
				return d.Rollback(ctx, n, replace)
			})
		},
	}
	replaceFlag(cmd, &replace)
	tryingFlags(cmd, &t)
	return cmd
}

func (a *app) policyExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain EVENT|DEVICE SPACE", Short: "Say rule by rule why an event is taken or refused, or what a device may do", Args: args(1, 2),
		Long: `Say rule by rule, with the line of the policy file, why an event is taken or refused, or what a device may do in a space.
An event that only one space has needs no space beside it; of its id any start or end of six characters will do.
"cairn hub devices" lists the ids of devices.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.atDesk(cmd, func(ctx context.Context, d desk.Desk) (fmt.Stringer, error) { return d.Explain(ctx, words) })
		},
	}
}

func versionNumber(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < versions.First {
		return 0, usage(fmt.Sprintf("a version has a number, the first one %d", versions.First))
	}
	return n, nil
}
