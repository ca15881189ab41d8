package bench

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/internal/corpus"
	"cairn/internal/event"
	"cairn/internal/paths"
	"cairn/policy/scope"
)

// personal is the space that every home has for notes.
const personal = scope.Personal

// A machine is one home with its agent in this process.
type machine struct {
	*agent.Agent
	home  paths.Home
	close func() error // may be called more than once
}

func (w *work) makeHome(name string) (paths.Home, error) {
	home := paths.Home(filepath.Join(w.dir, name))
	_, err := agent.MakeHome(w.ctx, home, name)
	return home, err
}

// own opens a home in this process, socket and all.
func (w *work) own(home paths.Home) (*machine, error) {
	a, err := agent.Own(w.ctx, agent.Options{Home: home, Version: "bench", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	m := &machine{Agent: a, home: home, close: sync.OnceValue(a.Close)}
	w.later(m.close)
	return m, nil
}

// stocked is a home with notes in it, which nobody has open.
func (w *work) stocked(name string) (paths.Home, error) {
	home, err := w.makeHome(name)
	if err != nil {
		return "", err
	}
	m, err := w.own(home)
	if err != nil {
		return "", err
	}
	if err := w.stock(m, personal); err != nil {
		return "", err
	}
	return home, m.close()
}

// stockBatch is how many notes go to the agent at once.
const stockBatch = 1024

// stock imports as many notes as are asked for.
func (w *work) stock(a api.Agent, space string) error {
	notes := corpus.Notes(w.opt.Notes)
	for at := 0; at < len(notes); at += stockBatch {
		w.progress("storing notes: %d of %d", at, len(notes))
		var drafts []api.Draft
		for _, n := range notes[at:min(at+stockBatch, len(notes))] {
			d := draft(n, space)
			t := event.NewTime(n.At)
			d.Historic, d.Observed = true, &t
			drafts = append(drafts, d)
		}
		results, err := a.Import(w.ctx, drafts)
		if err != nil {
			return fmt.Errorf("store notes: %w", err)
		}
		for _, r := range results {
			if r.Problem != nil {
				return fmt.Errorf("store notes: %w", r.Problem)
			}
		}
	}
	return nil
}

func draft(n corpus.Note, space string) api.Draft {
	return api.Draft{
		Space: space, Project: n.Project, Tags: n.Tags,
		Payload: &event.Observe{Summary: n.Title, Content: n.Text},
		Actor:   event.Actor{Kind: event.ActorAgent, ID: "bench", Harness: "bench"},
	}
}

// moreNotes are notes that stock has not stored.
func (w *work) moreNotes(n int) []corpus.Note { return corpus.Notes(w.opt.Notes + n)[w.opt.Notes:] }

// remember saves a note that must be new.
func remember(ctx context.Context, a api.Agent, d api.Draft) (api.Receipt, error) {
	r, err := a.Remember(ctx, d)
	if err == nil && r.Duplicate {
		err = fmt.Errorf("note %s was there before", r.ID)
	}
	return r, err
}

// patience is how long something may take before a bench gives up: a hundred
// thousand notes are indexed in that time.
const patience = 10 * time.Minute

// until asks again and again, so often that the answer is not late.
func until(ctx context.Context, what string, holds func() (bool, error)) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it never came to that: %s", what))
	defer stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
