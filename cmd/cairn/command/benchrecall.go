package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/cmd/cairn/bench"
	"cairn/internal/golden"
	"cairn/internal/paths"
	"cairn/internal/problem"
)

const recallHelp = `Ask the questions of a file, as "ask" does, and say how well they were answered.
The file is YAML or JSON: an object, or a list of such objects.

  notes:                  # optional; without them your own memory is asked, and only read
    - id: pg              # what questions call the note; its title will do
      title: Billing uses Postgres
      text: We chose Postgres because of partial indexes.
      tags: [billing]
  questions:
    - question: which database does billing use
      find: [pg]          # ids or titles, all of which must be found
      class: words        # optional; each class has figures of its own
    - question: who won the cup
      find: none          # nothing may be found

Of your own memory "find" takes ids, six or more characters of an id's start or
end, or titles. Other names that published sets use are taken too: docs for notes,
body for text, queries for questions, q for question, rel for find, cat for class.

A question is lost if a note that must be found is not among the first five, or
if there is a hit where nothing may be found. What was lost since the last run
over the same file is said: the home remembers it, in recall/.
The exit code is 2 for a mistake in the file, 1 if fewer are answered than --floor says.`

// recallFlags are the flags of bench recall.
type recallFlags struct {
	lost  bool
	floor float64
}

func (a *app) benchRecall() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use: "recall FILE", Short: "How well your own questions are answered: recall, MRR, nDCG, what was lost since last time",
		Long: recallHelp, Args: args(1, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			if f.floor < 0 || f.floor > 1 {
				return usage("--floor is a share between 0 and 1")
			}
			r, err := a.runRecall(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			if err := a.print(r, func(w io.Writer) { writeRecall(w, r, f.lost) }); err != nil {
				return err
			}
			if r.All.Right() < f.floor {
				return &silentError{problem.Failed.ExitCode()}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.lost, "lost", false, "show every question that was lost, not only those lost since last time")
	cmd.Flags().Float64Var(&f.floor, "floor", 0, "fail if a smaller share of the questions is answered, such as 0.95")
	return cmd
}

func (a *app) runRecall(ctx context.Context, file string) (r bench.RecallReport, err error) {
	sets, err := readGolden(file)
	if err != nil {
		return r, err
	}
	opt := bench.RecallOptions{Sets: sets}
	if a.env.Terminal {
		opt.Progress = a.progress
		defer a.progress("")
	}
	letGo := func() {}
	defer func() { letGo() }()
	opt.Memory = func(ctx context.Context) (own api.Agent, err error) {
		own, done, err := a.agent(ctx, needHome)
		if err == nil {
			letGo = done
		}
		return own, err
	}
	if r, err = bench.Recall(ctx, opt); err != nil {
		return r, err
	}
	err = a.rememberRecall(&r, file)
	return r, err
}

// maxGolden is how long a file of questions may be.
const maxGolden = 256 << 20

func readGolden(file string) ([]golden.Set, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usage(err.Error())
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGolden+1))
	if err != nil {
		return nil, usage(err.Error())
	}
	if len(data) > maxGolden {
		return nil, usage(fmt.Sprintf("%s has more than %d MiB", file, maxGolden>>20))
	}
	sets, err := golden.Parse(data)
	if mistake, ok := errors.AsType[*golden.Error](err); ok {
		p := problem.New(problem.Usage, fmt.Sprintf("%s: %s", file, mistake))
		p.Hint = `"cairn bench recall --help" shows the form of the file`
		return nil, p
	}
	return sets, err
}

// rememberRecall keeps the result in the home, if there is one.
func (a *app) rememberRecall(r *bench.RecallReport, file string) error {
	home, err := paths.Find(a.homeFlag, a.env.GOOS, a.env.Getenv)
	if errors.Is(err, paths.ErrNoHome) {
		return nil
	}
	if err != nil {
		return usage(err.Error())
	}
	if ok, err := agent.HasHome(home); !ok || err != nil {
		return err
	}
	return r.Remember(home, file, time.Now())
}

// writeRecall shows the figures and the questions that were lost: all of them,
// or those that were answered the last time.
func writeRecall(w io.Writer, r bench.RecallReport, all bool) {
	r.WriteTable(w)
	for _, q := range r.Lost {
		if all || q.Since {
			writeLost(w, q)
		}
	}
}

// shownHits is how many hits of a lost question are shown: those that count.
const shownHits = 5

func writeLost(w io.Writer, q bench.LostQuestion) {
	var titles []string
	for _, h := range q.Found[:min(len(q.Found), shownHits)] {
		titles = append(titles, oneLine(h.Title))
	}
	fmt.Fprintf(w, "line %d: %s\n", q.Line, oneLine(q.Question))
	fmt.Fprintf(w, "    must find: %s\n", orNothing(q.Find))
	fmt.Fprintf(w, "    found:     %s\n", orNothing(titles))
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return oneLine(strings.Join(list, "; "))
}
