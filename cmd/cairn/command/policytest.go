package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/hub"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/trial"
)

// policyTested is what "policy test" answers.
type policyTested struct {
	Space string `json:"space"`
	trial.Result
	Rights []trial.Change `json:"rights"` // gained and lost, if the policy in force is known
	Newer  int            `json:"newer"`  // events that only a newer cairn can read, and were not tried
	// Excused says whether exceptions for values were tried, which takes the
	// team's key.
	Excused    bool `json:"exceptions_tried"`
	exceptions int  // that the file has
}

func (a *app) policyTestCommand() *cobra.Command {
	var space, data string
	cmd := &cobra.Command{
		Use: "test FILE --against SPACE", Short: "Say what a policy file would change about the events of a space", Args: args(1, 1),
		Long: `Try a policy file on every event of a space: of this machine's replica, or with --data of a hub's.
It says which events would be refused that pass now, and the other way round, by id, rule and field, never the text;
what is too large, unsigned or comes to its end within 30 days; and which lines of the file do nothing.
Nothing is changed: what is in a history stays there. The exit code is 4 if anything would be newly refused.`,
		RunE: func(cmd *cobra.Command, given []string) error {
			if space == "" {
				return usage("--against SPACE says on whose events to try it")
			}
			src, err := readPolicyFile(given[0])
			if err != nil {
				return err
			}
			file, err := parsePolicy(src)
			if err != nil {
				return err
			}
			tested, err := testPolicy(cmd.Context(), file, space, a.policySource(data))
			if err != nil {
				return err
			}
			return a.endTest(given[0], tested)
		},
	}
	cmd.Flags().StringVar(&space, "against", "", "the space whose events are tried")
	cmd.Flags().StringVar(&data, "data", "", "the hub's folder, on the hub's own machine")
	return cmd
}

func (a *app) endTest(name string, tested policyTested) error {
	err := a.print(tested, func(w io.Writer) { writeTested(w, oneLine(name), tested) })
	if err == nil && len(tested.NewlyRefused) > 0 {
		return &silentError{problem.Policy.ExitCode()}
	}
	return err
}

// parsePolicy is a file that may be tried. Of one that may not it tells the
// first mistake, and how to see them all.
func parsePolicy(src []byte) (*rules.File, error) {
	f, err := rules.Parse(src)
	if _, ok := errors.AsType[*rules.CheckError](err); ok {
		p := problem.New(problem.Failed, err.Error())
		p.Hint = `"cairn policy check FILE" says everything that is wrong with it`
		return nil, p
	}
	return f, err
}

// A policySource is where events are tried from: the policy in force there,
// the team's key, and every stored event of a space.
type policySource struct {
	before *policy.Policy
	key    []byte
	each   func(ctx context.Context, space string, fn func([]byte) error) error
	done   func() error
}

// openSource opens one. Its user calls done.
type openSource func(context.Context) (policySource, error)

func (a *app) policySource(data string) openSource {
	if data != "" {
		return a.hubFolder(data)
	}
	return a.replica
}

func testPolicy(ctx context.Context, file *rules.File, space string, open openSource) (tested policyTested, err error) {
	source, err := open(ctx)
	if err != nil {
		return policyTested{}, err
	}
	defer func() { err = errors.Join(err, source.done()) }()
	return source.try(ctx, file.Rules(rules.Options{Key: source.key}), space)
}

// try says what the rules would change about the events of a space.
func (s policySource) try(ctx context.Context, after *rules.Rules, space string) (policyTested, error) {
	tested := policyTested{Space: space, Rights: []trial.Change{}, Excused: after.Keyed(), exceptions: len(after.File().Allow)}
	tried := trial.New(s.before, after, time.Now())
	if err := s.each(ctx, space, tried.AddStored); err != nil {
		return policyTested{}, err
	}
	tested.Result = tried.Result()
	tested.Newer = tested.Result.Newer
	if old := s.before.Rules(); old != nil {
		tested.Rights = trial.Rights(old, after)
	}
	return tested, nil
}

// replica has the events of this machine.
func (a *app) replica(ctx context.Context) (policySource, error) {
	home, err := a.home()
	if err != nil {
		return policySource{}, err
	}
	running, done, err := a.agent(ctx, needHome)
	if err != nil {
		return policySource{}, err
	}
	before, prints, err := agent.TeamPolicy(home)
	if err != nil {
		done()
		return policySource{}, err
	}
	return policySource{
		before: before, key: prints, each: running.Export, done: func() error { done(); return nil },
	}, nil
}

// hubFolder has the events at a hub, on its own machine.
func (a *app) hubFolder(data string) openSource {
	return func(context.Context) (policySource, error) {
		h, err := hub.Open(data, hub.Options{Log: a.logger()})
		if err != nil {
			return policySource{}, err
		}
		before, prints, err := h.Policy()
		if err != nil {
			return policySource{}, errors.Join(err, h.Close())
		}
		return policySource{
			before: before, key: prints, each: h.Events, done: h.Close,
		}, nil
	}
}

// breaksShown is how many of a list a person is told of.
const breaksShown = 20

func writeTested(w io.Writer, name string, t policyTested) {
	fmt.Fprintf(w, "%s on the %s of %s\n", name, events(t.Events), t.Space)
	writeBreaks(w, "would be refused that pass now", t.NewlyRefused)
	writeBreaks(w, "would pass that are refused now", t.NewlyAllowed)
	writeBreaks(w, "reported by rules on trial", t.Reported)
	fmt.Fprintf(w, "larger than allowed: %d, unsigned: %d, at an end within 30 days: %d\n", len(t.OverLimit), len(t.Unsigned), len(t.Expiring))
	for _, c := range t.Rights {
		fmt.Fprintln(w, "rights: "+harmless(c.String()))
	}
	for _, idle := range t.MatchedNothing {
		fmt.Fprintf(w, "line %d does nothing here: %s\n", idle.Line, idle.What)
	}
	if t.exceptions > 0 && !t.Excused {
		fmt.Fprintln(w, "exceptions for single values were not tried: the team's key for fingerprints is not here")
	}
	if t.Newer > 0 {
		fmt.Fprintf(w, "not tried, written by a newer cairn: %d\n", t.Newer)
	}
}

func writeBreaks(w io.Writer, what string, list []trial.Break) {
	fmt.Fprintf(w, "%s: %d\n", what, len(list))
	var b bytes.Buffer
	for i, one := range list {
		if i == breaksShown {
			fmt.Fprintf(&b, "  and %d more: --json lists them all\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  %s in %s\n", one.ID, one.Rule, one.Field)
	}
	fmt.Fprint(w, harmless(b.String()))
}
