package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"cairn/internal/corpus"
	"cairn/internal/event"
	"cairn/search"
)

const space = "bench"

func openCairn(ctx context.Context, dir string, notes []corpus.Note) (engine, error) {
	dir = filepath.Join(dir, "cairn")
	bulk, live := split(notes)
	err := search.Rebuild(ctx, dir, func(put func(search.Batch) error) error {
		for part := range slices.Chunk(bulk, 1000) {
			if err := put(batch(part)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return engine{}, err
	}
	index, err := search.Open(dir, search.Options{})
	if err != nil {
		return engine{}, err
	}
	for part := range slices.Chunk(live, liveStep) {
		if err := index.Apply(ctx, batch(part)); err != nil {
			return engine{}, errors.Join(err, index.Close())
		}
	}
	find := func(ctx context.Context, q corpus.Query) (int, error) {
		r, err := index.Ask(ctx, search.Query{Text: q.Text(), Limit: bestFive})
		return len(r.Hits), err
	}
	return engine{name: "cairn", ask: find, close: index.Close}, nil
}

func batch(notes []corpus.Note) search.Batch {
	b := search.Batch{Space: space}
	for _, n := range notes {
		b.Put = append(b.Put, search.Doc{
			ID: event.NewID(n.At), Title: n.Title, Body: n.Text, Tags: n.Tags,
			Kind: string(event.KindObserve), Project: n.Project, Recorded: n.At,
		})
	}
	return b
}

// split parts the notes that an engine is built of from those that come later.
func split(notes []corpus.Note) (bulk, live []corpus.Note) {
	at := len(notes) - liveNotes
	return notes[:at], notes[at:]
}
