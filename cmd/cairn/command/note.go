package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

// saveFlags are the flags that every command that saves an event has.
type saveFlags struct {
	space, class, project, chain, parent, key string
	tags                                      []string
}

func (f *saveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.space, "space", "", "space to save in (default personal)")
	flags.StringArrayVar(&f.tags, "tag", nil, "tag; may be given several times")
	flags.StringVar(&f.class, "class", "", "public, private or secret (default: what the space is for)")
	flags.StringVar(&f.project, "project", "", "project it belongs to")
	flags.StringVar(&f.chain, "chain", "", "id of the first event of its chain")
	flags.StringVar(&f.parent, "parent", "", "id of the event it follows")
	flags.StringVar(&f.key, "key", "", "idempotency key: saving again with it changes nothing")
}

func (a *app) draft(f saveFlags, p event.Payload) api.Draft {
	return api.Draft{
		Space: f.space, Payload: p, Actor: a.actor(),
		Parent: event.ID(f.parent), Chain: event.ID(f.chain),
		Classification: event.Classification(f.class),
		Project:        f.project, Tags: f.tags, Key: f.key,
	}
}

// actor is the person who typed the command.
func (a *app) actor() event.Actor {
	return event.Actor{Kind: event.ActorHuman, ID: a.env.User, Harness: "cli"}
}

// save saves one event and says so. It makes the home if there is none.
func (a *app) save(ctx context.Context, d api.Draft) error { return a.saveIn(ctx, createHome, d) }

// act is save for an event about another, which cannot be where no home is.
func (a *app) act(ctx context.Context, d api.Draft) error { return a.saveIn(ctx, needHome, d) }

func (a *app) saveIn(ctx context.Context, n need, d api.Draft) error {
	agent, done, err := a.agent(ctx, n)
	if err != nil {
		return err
	}
	defer done()
	r, err := agent.Remember(ctx, d)
	if err != nil {
		return err
	}
	return a.print(r, func(w io.Writer) { writeReceipt(w, r) })
}

func writeReceipt(w io.Writer, r api.Receipt) {
	word := "saved"
	if r.Duplicate {
		word = "already saved"
	}
	fmt.Fprintf(w, "%s %s in %s\n", word, r.ID.Short(), r.Space)
}

func (a *app) noteCommand() *cobra.Command {
	var f saveFlags
	var p event.Observe
	var supersedes string
	cmd := &cobra.Command{
		Use: "note TEXT | -", Short: "Save a note", GroupID: groupNotes, Args: args(1, 1),
		SuggestFor: []string{"add", "save", "remember"},
		Long:       "Save a note. With - the text is read from standard input, byte for byte.",
		RunE: func(cmd *cobra.Command, given []string) error {
			text, err := a.text(given[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return usage("the text is empty: nothing was saved")
			}
			p.Content, p.Supersedes = text, event.ID(supersedes)
			return a.save(cmd.Context(), a.draft(f, &p))
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&p.Summary, "title", "", "title (default: the first line)")
	cmd.Flags().StringVar(&p.Source, "source", "", "where it comes from")
	cmd.Flags().StringVar(&supersedes, "supersedes", "", "id of the note that it replaces")
	return cmd
}

// text is the argument, or standard input for "-". It reads no more than one
// byte over the limit, so that a text that is too long is known to be.
func (a *app) text(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(a.env.Stdin, event.MaxText+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(b) > event.MaxText {
		return "", problem.New(problem.TooBig, fmt.Sprintf("the text is longer than %d bytes: nothing was saved; split it into several notes", event.MaxText))
	}
	return string(b), nil
}
