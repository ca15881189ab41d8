package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/internal/corpus"
	"cairn/internal/measure"
)

// An engine finds the best five notes.
type engine struct {
	name  string
	ask   func(context.Context, corpus.Query) (hits int, err error)
	close func() error
}

const (
	bestFive = 5
	// liveNotes come one by ten after the others, so that no engine is measured
	// in the state it is in only right after it was built.
	liveNotes = 300
	liveStep  = 10
)

// Seeds of the questions that warm everything up and of those that count.
const (
	warmSeed = iota + 1
	countSeed
)

const warmRuns = 10

// compare builds every engine of the same notes below dir and lets them answer
// the same questions in turns.
func compare(ctx context.Context, dir string, notes, runs int) (r measure.Report, err error) {
	all := corpus.Notes(notes)
	ours, err := openCairn(ctx, dir, all)
	if err != nil {
		return r, err
	}
	engines := []engine{ours}
	defer func() {
		for _, e := range engines {
			err = errors.Join(err, e.close())
		}
	}()
	for _, kind := range tables {
		rivals, err := openFTS5(ctx, dir, kind, all)
		engines = append(engines, rivals...)
		if err != nil {
			return r, err
		}
	}
	r = measure.Report{Bench: "fts5", Machine: measure.ThisMachine(), Notes: notes, Rows: []measure.Row{}}
	for _, class := range corpus.Classes() {
		if _, err := ask(ctx, engines, corpus.Queries(all, class, warmRuns, warmSeed)); err != nil {
			return r, err
		}
	}
	for _, class := range corpus.Classes() {
		results, err := ask(ctx, engines, corpus.Queries(all, class, runs, countSeed))
		if err != nil {
			return r, err
		}
		report(&r, class, engines, results)
	}
	return r, nil
}

// A result is how one engine answered the questions of a class.
type result struct {
	times measure.Times
	empty int // questions that found nothing
}

// ask lets every engine answer each question before the next one, and another
// engine begin each time.
func ask(ctx context.Context, engines []engine, queries []corpus.Query) ([]result, error) {
	results := make([]result, len(engines))
	for i, q := range queries {
		for k := range engines {
			at := (i + k) % len(engines)
			began := time.Now()
			hits, err := engines[at].ask(ctx, q)
			took := time.Since(began)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", engines[at].name, q.Text(), err)
			}
			results[at].times = append(results[at].times, took)
			if hits == 0 {
				results[at].empty++
			}
		}
	}
	return results, nil
}

// report adds the rows of a class; the peer of all is the first engine.
func report(r *measure.Report, class corpus.Class, engines []engine, results []result) {
	first := measure.NewRow(rowName(class, engines[0]), results[0].times)
	r.Rows = append(r.Rows, first)
	for i, e := range engines {
		if i > 0 {
			r.Rows = append(r.Rows, measure.NewRow(rowName(class, e), results[i].times).Beside(first))
		}
		if n := results[i].empty; n > 0 {
			r.Remarks = append(r.Remarks, fmt.Sprintf("%s: nothing found in %d of %d", rowName(class, e), n, len(results[i].times)))
		}
	}
}

func rowName(class corpus.Class, e engine) string { return string(class) + ", " + e.name }
