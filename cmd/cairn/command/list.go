package command

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/agent/highlight"
	"cairn/internal/event"
	"cairn/internal/moment"
	"cairn/internal/problem"
)

// filterFlags are the filters of ask, log and the lists of other kinds.
type filterFlags struct {
	f            api.Filter
	kind         string
	since, until string
	limit        int
	all          bool
}

func (f *filterFlags) add(cmd *cobra.Command, limit int) {
	flags := cmd.Flags()
	flags.IntVarP(&f.limit, "limit", "n", limit, "how many at most")
	flags.StringVar(&f.kind, "kind", "", "only this kind of event")
	flags.StringArrayVar(&f.f.Tags, "tag", nil, "only with this tag; several may be given, and all are needed")
	flags.StringVar(&f.f.Harness, "harness", "", "only saved by this AI tool")
	flags.StringVar(&f.f.Device, "device", "", "only saved on this device; six or more characters of the start of its id will do")
	flags.StringVar(&f.f.Actor, "actor", "", "only saved by this actor")
	flags.StringVar(&f.f.Project, "project", "", "only of this project")
	flags.StringVar(&f.f.Space, "space", "", "only in this space")
	flags.StringVar(&f.since, "since", "", "only from this time on: "+moment.Forms)
	flags.StringVar(&f.until, "until", "", "only before this time")
	flags.BoolVar(&f.all, "all", false, "also superseded, archived and expired ones, marked")
}

func (f *filterFlags) query(text string) (api.Query, error) {
	if f.limit < 1 {
		return api.Query{}, usage("-n must be at least 1")
	}
	q := api.Query{Text: text, Limit: f.limit, Filter: f.f, All: f.all}
	kind, err := parseKind(f.kind)
	if err != nil {
		return api.Query{}, err
	}
	q.Filter.Kind = kind
	now := time.Now()
	if q.Filter.Since, err = parseWhen("--since", f.since, now); err != nil {
		return api.Query{}, err
	}
	q.Filter.Until, err = parseWhen("--until", f.until, now)
	return q, err
}

// parseKind takes a kind as stored, or with a dash as commands are written.
func parseKind(s string) (event.Kind, error) {
	if s == "" {
		return "", nil
	}
	k := event.Kind(strings.ReplaceAll(s, "-", "_"))
	if k == "note" {
		k = event.KindObserve
	}
	if event.NewPayload(k) == nil {
		return "", usage("no such kind of event; the kinds are " + joined(event.Kinds()))
	}
	return k, nil
}

func joined(kinds []event.Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}

// parseWhen reads the time that a flag gives; no text is no time.
func parseWhen(flag, s string, now time.Time) (*event.Time, error) {
	if s == "" {
		return nil, nil
	}
	at, ok := moment.Parse(s, now)
	if !ok {
		return nil, problem.New(problem.Usage, flag+" is "+moment.Forms)
	}
	v := event.NewTime(at)
	return &v, nil
}

const askHelp = `Search by a whole question, words, the start of a word, or a "phrase".
AND, OR, NOT and brackets combine, title:word looks into titles.

Filters may stand among the words, in upper or lower case, as the flags do:

  cairn ask why redis tag:cache kind:lesson
  cairn ask 'timeout project:"my app" since:30d NOT tag:old'
  cairn ask tag:go                   without words: the newest first

They are tag: kind: harness: device: project: since: until:; all that are given
must hold, an empty one is none. Nothing you can type is an error.`

func (a *app) askCommand() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use: "ask QUERY", Short: "Search", GroupID: groupNotes, Args: args(1, -1),
		SuggestFor: []string{"search", "find", "query", "recall"},
		Long:       askHelp,
		RunE: func(cmd *cobra.Command, given []string) error {
			q, err := f.query(strings.Join(given, " "))
			if err != nil {
				return err
			}
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			answer, err := agent.Ask(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.print(answer, func(w io.Writer) { writeAnswer(w, answer, "no note matches", a.painter(answer.Query)) })
		},
	}
	f.add(cmd, 5)
	return cmd
}

func (a *app) logCommand() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use: "log", Short: "List the newest notes", GroupID: groupNotes, Args: args(0, 0),
		SuggestFor: []string{"list", "ls", "notes"},
		RunE:       func(cmd *cobra.Command, _ []string) error { return a.list(cmd, f, func(*api.Query) {}) },
	}
	f.add(cmd, 20)
	return cmd
}

// list prints a dated list; narrow changes the query first.
func (a *app) list(cmd *cobra.Command, f filterFlags, narrow func(*api.Query)) error {
	q, err := f.query("")
	if err != nil {
		return err
	}
	narrow(&q)
	agent, done, err := a.agent(cmd.Context(), needHome)
	if err != nil {
		return err
	}
	defer done()
	answer, err := agent.Log(cmd.Context(), q)
	if err != nil {
		return err
	}
	return a.print(answer, func(w io.Writer) { writeAnswer(w, answer, "nothing here yet", plain) })
}

// A painter marks what a search matched in what is shown of a hit.
type painter func(h api.Hit, title, snippet string) (string, string)

func plain(_ api.Hit, title, snippet string) (string, string) { return title, snippet }

// painter marks in bold if a person reads it on a terminal that can show it.
func (a *app) painter(query string) painter {
	if !a.colors() {
		return plain
	}
	return func(h api.Hit, title, snippet string) (string, string) {
		return highlight.Paint(query, h, title, snippet, "\x1b[1m", "\x1b[22m")
	}
}

// colors says whether marks may go to stdout. A console of Windows that names
// neither itself nor a terminal may be one that shows them as text.
func (a *app) colors() bool {
	get := a.env.Getenv
	able := a.env.GOOS != "windows" || get("WT_SESSION") != "" || get("TERM") != ""
	return able && a.env.Screen && !a.noColor && get("NO_COLOR") == "" && get("TERM") != "dumb"
}

func writeAnswer(w io.Writer, answer api.Answer, none string, paint painter) {
	if answer.Note != "" {
		fmt.Fprintln(w, oneLine(answer.Note))
	} else if len(answer.Hits) == 0 {
		fmt.Fprintln(w, none)
	}
	for _, h := range answer.Hits {
		writeHit(w, h, paint)
	}
}

func writeHit(w io.Writer, h api.Hit, paint painter) {
	title, snippet := oneLine(h.Title), oneLine(h.Snippet)
	if snippet == title {
		snippet = ""
	}
	title, snippet = paint(h, title, snippet)
	fmt.Fprintf(w, "%s  %s  %s", h.ID.Short(), h.Recorded.Local().Format("2006-01-02 15:04"), title)
	if marks := hitMarks(h); marks != "" {
		fmt.Fprintf(w, "  [%s]", harmless(marks))
	}
	fmt.Fprintln(w)
	if snippet != "" {
		fmt.Fprintln(w, "    "+snippet)
	}
}

// hitMarks says where a hit comes from and what it counts for.
func hitMarks(h api.Hit) string {
	var marks []string
	if h.Kind != event.KindObserve {
		marks = append(marks, string(h.Kind))
	}
	marks = append(marks, h.Space)
	if h.Harness != "" {
		marks = append(marks, h.Harness)
	}
	if h.State != "" && h.State != api.Live {
		state := string(h.State)
		if h.SupersededBy != "" {
			state += " by " + h.SupersededBy.Short()
		}
		marks = append(marks, state)
	}
	if h.Verdict != "" {
		marks = append(marks, h.Verdict)
	}
	if h.Newer {
		marks = append(marks, "written by a newer cairn")
	}
	return strings.Join(marks, ", ")
}

// oneLine folds white space, so that a list keeps a line for each thing, and
// leaves out what would command the terminal: others wrote the text.
func oneLine(s string) string { return harmless(strings.Join(strings.Fields(s), " ")) }

// harmless is s without control characters other than line ends and tabs, and
// without those that turn the order of letters around or cannot be seen at all.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || isTag(r) {
			return -1
		}
		return r
	}, s)
}

// isTag says whether r is one of Unicode's tag characters: ASCII that only
// programs see.
func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }
