package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cairn/installers/aitools"
	"cairn/internal/problem"
)

// wiring is what connect and disconnect differ in.
type wiring struct {
	plan func(aitools.Env, ...aitools.Tool) ([]aitools.Change, error)
	done string // what to say after changes
	none error  // what it means if "all" finds no tool
}

// connectOptions are the flags of connect and disconnect.
type connectOptions struct {
	dry     bool
	project string
}

func (o *connectOptions) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only show what would change")
	cmd.Flags().StringVar(&o.project, "project", "", "only for the project in this folder")
}

func (a *app) connectCommand() *cobra.Command {
	var o connectOptions
	var list bool
	cmd := &cobra.Command{
		Use: "connect TOOL... | all", Short: "Let AI tools use this memory", GroupID: groupTools, Args: args(0, -1),
		Long: "Tell AI tools of this memory: MCP server, instructions, session-start hook. Every file is shown first;\nwhat others wrote in it stays byte for byte; \"cairn disconnect\" takes everything out again.\nTools: " + strings.Join(toolNames(), ", "),
		RunE: func(cmd *cobra.Command, given []string) error {
			if list {
				return a.listTools(o)
			}
			if info, err := os.Stat(o.project); o.project != "" && (err != nil || !info.IsDir()) {
				return usage("there is no folder " + o.project)
			}
			return a.wire(cmd.Context(), given, o, wiring{
				aitools.Plan, "connected: it counts from the next session on",
				problem.New(problem.NotFound, "none of these tools was found on this machine: "+strings.Join(toolNames(), ", ")),
			})
		},
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&list, "list", false, "list the tools and how they stand")
	return cmd
}

func (a *app) disconnectCommand() *cobra.Command {
	var o connectOptions
	cmd := &cobra.Command{
		Use: "disconnect TOOL... | all", Short: "Take out what connect put in", GroupID: groupTools, Args: args(1, -1),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.wire(cmd.Context(), given, o, wiring{plan: aitools.PlanRemove, done: "disconnected"})
		},
	}
	o.add(cmd)
	return cmd
}

func toolNames() []string {
	var ids []string
	for _, t := range aitools.All() {
		ids = append(ids, t.ID())
	}
	return ids
}

// changeJSON is a change without the contents of the file, which may hold
// keys of others.
type changeJSON struct {
	Path   string         `json:"path"`
	Action aitools.Action `json:"action"`
	Diff   string         `json:"diff,omitempty"`
	Note   string         `json:"note,omitempty"`

	stays bool // the file does, when something is taken out of it
}

// words say what happens to the file.
func (c changeJSON) words() string {
	if c.Action == aitools.Remove && c.stays {
		return "remove from " + c.Path
	}
	return string(c.Action) + " " + c.Path
}

// wire plans, shows, and unless it is a dry run makes the changes.
func (a *app) wire(ctx context.Context, given []string, o connectOptions, how wiring) error {
	env, err := a.toolEnv(o)
	if err != nil {
		return err
	}
	tools, err := chooseTools(env, given)
	if err != nil {
		return err
	}
	if len(tools) == 0 && how.none != nil {
		return how.none
	}
	changes, manual := how.plan(env, tools...)
	if manual != nil && changes == nil {
		return manual
	}
	shown := make([]changeJSON, 0, len(changes))
	for _, c := range changes {
		shown = append(shown, changeJSON{c.Path, c.Action, c.Diff(), c.Note, c.After != nil})
	}
	if !o.dry {
		if err := a.applyChanges(ctx, env, changes); err != nil {
			return err
		}
	}
	if err := a.print(map[string]any{"changes": shown, "applied": !o.dry}, func(w io.Writer) { writeChanges(w, shown, o.dry, how.done) }); err != nil {
		return err
	}
	if manual != nil {
		p := problem.New(problem.Failed, manual.Error())
		p.Hint = "everything else was done"
		return p
	}
	return nil
}

func (a *app) applyChanges(ctx context.Context, env aitools.Env, changes []aitools.Change) error {
	err := aitools.Apply(ctx, env, changes)
	if changed, ok := errors.AsType[*aitools.ChangedError](err); ok {
		return problem.New(problem.Busy, changed.Error())
	}
	return err
}

// chooseTools is the tools named, or all that are installed here.
func chooseTools(env aitools.Env, given []string) ([]aitools.Tool, error) {
	if len(given) == 0 {
		return nil, usage("name a tool or all: " + strings.Join(toolNames(), ", "))
	}
	if slices.Contains(given, "all") {
		return installedTools(env)
	}
	var tools []aitools.Tool
	for _, id := range given {
		t, err := aitools.ByID(id)
		if err != nil {
			return nil, usage(err.Error())
		}
		tools = append(tools, t)
	}
	return tools, nil
}

func installedTools(env aitools.Env) ([]aitools.Tool, error) {
	list, err := aitools.Detect(env)
	if err != nil {
		return nil, err
	}
	var tools []aitools.Tool
	for i, t := range aitools.All() {
		if list[i].Installed || list[i].Connected {
			tools = append(tools, t)
		}
	}
	return tools, nil
}

func (a *app) toolEnv(o connectOptions) (aitools.Env, error) {
	home, err := a.home()
	if err != nil {
		return aitools.Env{}, err
	}
	binary, err := a.env.Executable()
	if err != nil {
		return aitools.Env{}, fmt.Errorf("find this program: %w", err)
	}
	project := o.project
	if project != "" {
		if project, err = filepath.Abs(project); err != nil {
			return aitools.Env{}, usage(err.Error())
		}
	}
	return aitools.HostEnv(binary, string(home), project)
}

func writeChanges(w io.Writer, changes []changeJSON, dry bool, done string) {
	changed := false
	for _, c := range changes {
		fmt.Fprintln(w, c.words())
		if c.Action != aitools.Unchanged {
			changed = true
			fmt.Fprint(w, c.Diff)
		}
		if c.Note != "" {
			fmt.Fprintln(w, "  note: "+c.Note)
		}
	}
	switch {
	case dry:
		fmt.Fprintln(w, "nothing was written (--dry-run)")
	case !changed:
		fmt.Fprintln(w, "there was nothing to change")
	default:
		fmt.Fprintln(w, done)
	}
}

func (a *app) listTools(o connectOptions) error {
	env, err := a.toolEnv(o)
	if err != nil {
		return err
	}
	list, err := aitools.Detect(env)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"tools": toolRows(list)}, func(w io.Writer) {
		for _, t := range toolRows(list) {
			fmt.Fprintf(w, "%-12s %s\n", t.ID, t.words())
		}
	})
}

type toolRow struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Installed bool   `json:"installed"`
	Connected bool   `json:"connected"`
}

func toolRows(list []aitools.Status) []toolRow {
	rows := make([]toolRow, 0, len(list))
	for _, s := range list {
		rows = append(rows, toolRow{s.Tool, s.Name, s.Installed, s.Connected})
	}
	return rows
}

func (t toolRow) words() string {
	switch {
	case t.Connected:
		return "connected"
	case t.Installed:
		return "installed, not connected"
	default:
		return "not found on this machine"
	}
}
