package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

func (a *app) claimCommand() *cobra.Command {
	return group("claim", "State what holds under a key", groupKinds,
		a.claimSetCommand(),
		a.getCommand("get KEY", "Show the claim in force", event.KindClaim, 1),
		a.kindList("list", "List the claims in force", event.KindClaim, false),
	)
}

func (a *app) claimSetCommand() *cobra.Command {
	var f saveFlags
	var from, to, supersedes string
	var support []string
	p := event.Claim{SchemaType: "statement"}
	cmd := &cobra.Command{
		Use: "set KEY TEXT", Short: "Make a claim; it replaces the one under the same key", Args: args(2, 2),
		RunE: func(cmd *cobra.Command, given []string) error {
			text, err := a.text(given[1])
			if err != nil {
				return err
			}
			p.Key, p.Content, p.Supersedes = given[0], text, event.ID(supersedes)
			now := time.Now()
			if p.ValidFrom, err = parseWhen("--valid-from", from, now); err != nil {
				return err
			}
			if p.ValidTo, err = parseWhen("--valid-to", to, now); err != nil {
				return err
			}
			for _, id := range support {
				p.SupportRefs = append(p.SupportRefs, event.Support{Event: event.ID(id), NotedAt: event.NewTime(now)})
			}
			return a.save(cmd.Context(), a.draft(f, &p))
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&from, "valid-from", "", "from when it holds")
	flags.StringVar(&to, "valid-to", "", "until when it holds")
	flags.StringArrayVar(&support, "support", nil, "id of an event that backs it; may be given several times")
	flags.StringVar(&supersedes, "supersedes", "", "id of the event that it replaces")
	flags.StringVar(&p.SchemaType, "type", p.SchemaType, "what kind of claim it is")
	return cmd
}

func (a *app) prefCommand() *cobra.Command {
	return group("pref", "Set and read preferences", groupKinds,
		a.prefSetCommand(),
		a.getCommand("get CATEGORY KEY", "Show the preference in force", event.KindPref, 2),
		a.kindList("list", "List the preferences in force", event.KindPref, false),
		a.historyCommand(),
	)
}

func (a *app) prefSetCommand() *cobra.Command {
	var f saveFlags
	cmd := &cobra.Command{
		Use: "set CATEGORY KEY VALUE", Short: "Set a preference", Args: args(3, 3),
		RunE: func(cmd *cobra.Command, given []string) error {
			value, err := a.text(given[2])
			if err != nil {
				return err
			}
			return a.save(cmd.Context(), a.draft(f, &event.Pref{Category: given[0], Key: given[1], Value: value}))
		},
	}
	f.add(cmd)
	return cmd
}

// getCommand shows the one event in force for a subject made of n arguments.
func (a *app) getCommand(use, short string, kind event.Kind, n int) *cobra.Command {
	var space string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args(n, n),
		RunE: func(cmd *cobra.Command, given []string) error {
			agent, done, err := a.agent(cmd.Context(), needHome)
			if err != nil {
				return err
			}
			defer done()
			q := api.Query{Limit: 1, Filter: api.Filter{Space: space, Kind: kind, Subject: strings.Join(given, "/")}}
			answer, err := agent.Log(cmd.Context(), q)
			if err != nil {
				return err
			}
			if len(answer.Hits) == 0 {
				return problem.New(problem.NotFound, "nothing is set for "+strings.Join(given, " "))
			}
			h := answer.Hits[0]
			return a.print(h, func(w io.Writer) { fmt.Fprintln(w, h.Text) })
		},
	}
	cmd.Flags().StringVar(&space, "space", "", "only in this space")
	return cmd
}

func (a *app) kindList(use, short string, kind event.Kind, all bool) *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.list(cmd, f, func(q *api.Query) {
				q.Filter.Kind = kind
				q.All = q.All || all
			})
		},
	}
	f.add(cmd, 100)
	return cmd
}

func (a *app) historyCommand() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{
		Use: "history CATEGORY KEY", Short: "List every value a preference had, newest first", Args: args(2, 2),
		RunE: func(cmd *cobra.Command, given []string) error {
			return a.list(cmd, f, func(q *api.Query) {
				q.Filter.Kind, q.Filter.Subject, q.All = event.KindPref, given[0]+"/"+given[1], true
			})
		},
	}
	f.add(cmd, 100)
	return cmd
}

func (a *app) lessonCommand() *cobra.Command {
	subs := []*cobra.Command{a.kindList("list", "List lessons", event.KindLesson, false)}
	for _, t := range []struct {
		transition event.Transition
		short      string
	}{
		{event.LessonAdd, "Add a lesson"},
		{event.LessonModify, "Replace a lesson's text"},
		{event.LessonRetire, "Put a lesson away"},
		{event.LessonPromote, "Say that a lesson matters more"},
		{event.LessonDecay, "Say that a lesson matters less"},
	} {
		subs = append(subs, a.lessonChange(t.transition, t.short))
	}
	return group("lesson", "Keep lessons learned", groupKinds, subs...)
}

func (a *app) lessonChange(t event.Transition, short string) *cobra.Command {
	var f saveFlags
	var rank int
	cmd := &cobra.Command{
		Use: string(t) + " CATEGORY TEXT", Short: short, Args: args(2, 2),
		RunE: func(cmd *cobra.Command, given []string) error {
			text, err := a.text(given[1])
			if err != nil {
				return err
			}
			p := &event.Lesson{Category: given[0], Text: text, Transition: t}
			if cmd.Flags().Changed("rank") {
				p.Rank = &rank
			}
			if t != event.LessonAdd && f.parent == "" {
				if f.parent, err = a.lessonMeant(cmd.Context(), f.space, p); err != nil {
					return err
				}
			}
			return a.save(cmd.Context(), a.draft(f, p))
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&rank, "rank", 0, "how much it matters")
	if t != event.LessonAdd {
		cmd.Long = short + ". The lesson meant is the one with --parent ID, or the one with exactly this text,\nor the only one of its category."
	}
	return cmd
}

// lessonMeant is the live lesson that a change without an id is about.
func (a *app) lessonMeant(ctx context.Context, space string, p *event.Lesson) (string, error) {
	agent, done, err := a.agent(ctx, needHome)
	if err != nil {
		return "", err
	}
	defer done()
	q := api.Query{Limit: 1000, Filter: api.Filter{Space: space, Kind: event.KindLesson, Subject: p.Category}}
	answer, err := agent.Log(ctx, q)
	if err != nil {
		return "", err
	}
	for _, h := range answer.Hits {
		if h.Text == p.Text {
			return string(h.ID), nil
		}
	}
	switch len(answer.Hits) {
	case 0:
		return "", problem.New(problem.NotFound, "there is no lesson in category "+p.Category)
	case 1:
		return string(answer.Hits[0].ID), nil
	default:
		return "", usage("several lessons are in category " + p.Category + `: name one with --parent ID ("cairn lesson list" shows them)`)
	}
}
