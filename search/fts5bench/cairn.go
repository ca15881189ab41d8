package main

import (
	"context"
	"errors"
	"path/filepath"

	"cairn/internal/corpus"
	"cairn/internal/event"
	"cairn/search"
)

const (
	space    = "bench"
	bulkStep = 1000
)

func openCairn(ctx context.Context, dir string, notes []corpus.Note) (engine, error) {
	dir = filepath.Join(dir, "cairn")
	ids, at := make([]event.ID, len(notes)), map[event.ID]int{}
	for i, n := range notes {
		ids[i] = event.NewID(n.At)
		at[ids[i]] = i
	}
	bulk, live := split(notes)
	bulkIDs, liveIDs := ids[:len(bulk)], ids[len(bulk):]
	built, err := build(dir, func() error {
		return search.Rebuild(ctx, dir, func(put func(search.Batch) error) error {
			for from := 0; from < len(bulk); from += bulkStep {
				to := min(from+bulkStep, len(bulk))
				if err := put(batch(bulk[from:to], bulkIDs[from:to])); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return engine{}, err
	}
	index, err := search.Open(dir, search.Options{})
	if err != nil {
		return engine{}, err
	}
	grow := func(ctx context.Context) error {
		for from := 0; from < len(live); from += liveStep {
			to := min(from+liveStep, len(live))
			if err := index.Apply(ctx, batch(live[from:to], liveIDs[from:to])); err != nil {
				return err
			}
		}
		return nil
	}
	ask := func(ctx context.Context, x asker, q question) (found []int, err error) {
		r, err := x.Ask(ctx, search.Query{Text: q.text, Limit: q.limit})
		for _, hit := range r.Hits {
			found = append(found, at[hit.ID])
		}
		return found, err
	}
	return engine{
		name: "cairn", built: built, grow: grow, close: index.Close,
		ask: func(ctx context.Context, q question) ([]int, error) { return ask(ctx, index, q) },
		cold: func(ctx context.Context, q question) (found []int, err error) {
			reader, err := search.OpenReader(dir)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, reader.Close()) }()
			return ask(ctx, reader, q)
		},
	}, nil
}

// An asker is an index, or a reader beside it.
type asker interface {
	Ask(context.Context, search.Query) (search.Result, error)
}

func batch(notes []corpus.Note, ids []event.ID) search.Batch {
	b := search.Batch{Space: space}
	for i, n := range notes {
		b.Put = append(b.Put, search.Doc{
			ID: ids[i], Title: n.Title, Body: n.Text, Tags: n.Tags,
			Kind: string(event.KindObserve), Project: n.Project, Recorded: n.At,
		})
	}
	return b
}

// split parts the notes that an engine is built of from those that come later.
func split(notes []corpus.Note) (bulk, live []corpus.Note) {
	at := max(len(notes)-liveNotes, 0)
	return notes[:at], notes[at:]
}
