package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/moment"
	"cairn/internal/problem"
)

func (a *app) exportCommand() *cobra.Command {
	return group("export", "Write everything out, readable without cairn", groupCare, a.exportJSONL())
}

func (a *app) exportJSONL() *cobra.Command {
	var space string
	cmd := &cobra.Command{
		Use: "jsonl FILE | -", Short: "Write one event a line", Args: args(1, 1),
		RunE: func(cmd *cobra.Command, given []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			if given[0] == "-" {
				_, err := writeEvents(cmd.Context(), agent, space, a.env.Stdout)
				return err
			}
			// Nobody else's business: the notes of "personal" are among them.
			f, err := os.OpenFile(given[0], os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
			if err != nil {
				return usage(err.Error())
			}
			n, err := writeEvents(cmd.Context(), agent, space, f)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			return a.print(map[string]any{"file": given[0], "events": n}, func(w io.Writer) { fmt.Fprintf(w, "%s in %s\n", events(n), given[0]) })
		},
	}
	cmd.Flags().StringVar(&space, "space", "", "only this space")
	return cmd
}

// writeEvents writes one event a line and says how many.
func writeEvents(ctx context.Context, agent api.Agent, space string, out io.Writer) (int, error) {
	w := bufio.NewWriter(out)
	n := 0
	err := agent.Export(ctx, space, func(b []byte) error {
		var line bytes.Buffer
		if err := json.Compact(&line, b); err != nil {
			return err
		}
		line.WriteByte('\n')
		n++
		_, err := w.Write(line.Bytes())
		return err
	})
	return n, errors.Join(err, w.Flush())
}

func (a *app) importCommand() *cobra.Command {
	return group("import", "Take notes in from elsewhere", groupCare, a.importJSONL())
}

// importBatch is how many drafts go to the agent at once.
const importBatch = 256

// imported counts what became of an import.
type imported struct {
	Read       int             `json:"read"`
	Imported   int             `json:"imported"`
	Duplicates int             `json:"duplicates"`
	Refused    []importRefusal `json:"refused"`
	DryRun     bool            `json:"dry_run,omitempty"`
}

type importRefusal struct {
	Line  int              `json:"line"`
	Error *problem.Problem `json:"error"`
}

func (a *app) importJSONL() *cobra.Command {
	var space string
	var dry bool
	cmd := &cobra.Command{
		Use: "jsonl FILE | -", Short: "Take in one note or exported event a line", Args: args(1, 1),
		Long: "Each line is a JSON object: the arguments of the MCP tool remember (text, title, tags, …, and\nobserved for a historic note), or a whole event as \"cairn export jsonl\" writes it.\nThe same file again adds nothing.",
		RunE: func(cmd *cobra.Command, given []string) error {
			in, err := a.open(given[0])
			if err != nil {
				return err
			}
			defer in.Close()
			run := importRun{app: a, space: space, source: given[0], result: imported{DryRun: dry, Refused: []importRefusal{}}}
			if !dry {
				agent, done, err := a.agent(cmd.Context(), createHome)
				if err != nil {
					return err
				}
				defer done()
				run.agent = agent
			}
			if err := run.all(cmd.Context(), in); err != nil {
				return err
			}
			return run.end()
		},
	}
	cmd.Flags().StringVar(&space, "space", "", "space for lines that name none (default personal)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be taken in")
	return cmd
}

func (a *app) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.env.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, usage(err.Error())
	}
	return f, nil
}

type importRun struct {
	app    *app
	agent  api.Agent // none in a dry run
	space  string
	source string
	drafts []api.Draft
	lines  []int // of the drafts
	result imported
}

func (r *importRun) all(ctx context.Context, in io.Reader) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 64<<10), 2*event.MaxFile)
	line := 0
	for sc.Scan() {
		line++
		b := bytes.TrimSpace(sc.Bytes())
		if len(b) == 0 {
			continue
		}
		r.result.Read++
		d, err := r.app.lineDraft(b, r.space)
		if err != nil {
			r.refuse(line, err)
			continue
		}
		r.drafts, r.lines = append(r.drafts, d), append(r.lines, line)
		if len(r.drafts) == importBatch {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	if err := sc.Err(); err != nil {
		return usage(fmt.Sprintf("%s, line %d: %v", r.source, line+1, err))
	}
	return r.flush(ctx)
}

func (r *importRun) refuse(line int, err error) {
	r.result.Refused = append(r.result.Refused, importRefusal{line, problem.Of(err)})
}

func (r *importRun) flush(ctx context.Context) error {
	if len(r.drafts) == 0 || r.result.DryRun {
		r.drafts, r.lines = nil, nil
		return nil
	}
	results, err := r.agent.Import(ctx, r.drafts)
	if err != nil {
		return err
	}
	for i, one := range results {
		switch {
		case one.Problem != nil:
			r.refuse(r.lines[i], one.Problem)
		case one.Receipt.Duplicate:
			r.result.Duplicates++
		default:
			r.result.Imported++
		}
	}
	r.drafts, r.lines = nil, nil
	if r.app.env.Terminal {
		fmt.Fprintf(r.app.env.Stderr, "\r%d read, %d new", r.result.Read, r.result.Imported)
	}
	return nil
}

func (r *importRun) end() error {
	if r.app.env.Terminal && !r.result.DryRun {
		fmt.Fprintln(r.app.env.Stderr)
	}
	err := r.app.print(r.result, func(w io.Writer) { writeImported(w, r.result) })
	if err == nil && len(r.result.Refused) > 0 {
		return &silentError{problem.Policy.ExitCode()}
	}
	return err
}

// refusalsShown is how many of the refused lines a person is told of.
const refusalsShown = 20

func writeImported(w io.Writer, r imported) {
	if r.DryRun {
		fmt.Fprintf(w, "%d read, %d could be taken in, %d refused (--dry-run)\n", r.Read, r.Read-len(r.Refused), len(r.Refused))
	} else {
		fmt.Fprintf(w, "%d read, %d new, %d already there, %d refused\n", r.Read, r.Imported, r.Duplicates, len(r.Refused))
	}
	for i, f := range r.Refused {
		if i == refusalsShown {
			fmt.Fprintf(w, "and %d more: --json lists them all\n", len(r.Refused)-i)
			return
		}
		fmt.Fprintf(w, "line %d: %s\n", f.Line, f.Error.Message)
		if f.Error.Hint != "" {
			fmt.Fprintln(w, "    "+f.Error.Hint)
		}
	}
}

// lineDraft reads one line of an import.
func (a *app) lineDraft(b []byte, space string) (api.Draft, error) {
	var probe struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(b, &probe); err != nil {
		return api.Draft{}, usage("the line is not a JSON object")
	}
	if probe.Schema > 0 {
		var stored bytes.Buffer
		if err := json.Indent(&stored, b, "", " "); err != nil {
			return api.Draft{}, usage("the line is not a JSON object")
		}
		stored.WriteByte('\n')
		return api.Draft{Stored: stored.Bytes()}, nil
	}
	r, err := remembered(b)
	if err != nil {
		return api.Draft{}, err
	}
	if r.Space == "" {
		r.Space = space
	}
	d, err := r.Draft(a.actor())
	if err != nil {
		return api.Draft{}, err
	}
	d.Historic = true
	return d, nil
}

// remembered reads the arguments of remember. What was observed when may be
// told in other forms than the one that an event has. No message repeats what
// the line holds.
func remembered(b []byte) (api.Remember, error) {
	var line struct {
		api.Remember
		Observed string `json:"observed"`
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(&line)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return api.Remember{}, usage("a member has the wrong type: tags is a list of texts, every other one a text")
	}
	if err != nil {
		return api.Remember{}, usage("the line has a member that is none of text, title, kind, tags, project, space, key, supersedes, source, observed")
	}
	if line.Observed != "" {
		at, ok := moment.Date(line.Observed)
		if !ok {
			return api.Remember{}, usage("member observed is a date (2026-01-31) or an RFC 3339 time")
		}
		observed := event.NewTime(at)
		line.Remember.Observed = &observed
	}
	return line.Remember, nil
}
