package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/internal/corpus"
	"cairn/internal/measure"
)

// An engine finds the best notes.
type engine struct {
	name  string
	ask   func(context.Context, question) (found []int, err error) // by their place, best first
	close func() error
}

// A question is what an engine is asked.
type question struct {
	text   string
	words  []string
	phrase bool // the words stand next to each other
	prefix bool // the last word is only begun
	limit  int
}

func questionOf(q corpus.Query) question {
	return question{text: q.Text(), words: q.Words, phrase: q.Class == corpus.Phrase, prefix: q.IsPrefix(), limit: bestFive}
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
	engines, err := openAll(ctx, dir, all)
	defer func() { err = errors.Join(err, closeAll(engines)) }()
	if err != nil {
		return r, err
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

// openAll builds every engine of the same notes; ours is the first. Those that
// it returns are to be closed, also after an error.
func openAll(ctx context.Context, dir string, notes []corpus.Note) ([]engine, error) {
	ours, err := openCairn(ctx, dir, notes)
	if err != nil {
		return nil, err
	}
	engines := []engine{ours}
	for _, kind := range tables {
		rivals, err := openFTS5(ctx, dir, kind, notes)
		engines = append(engines, rivals...)
		if err != nil {
			return engines, err
		}
	}
	return engines, nil
}

func closeAll(engines []engine) (err error) {
	for _, e := range engines {
		err = errors.Join(err, e.close())
	}
	return err
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
			found, err := engines[at].ask(ctx, questionOf(q))
			took := time.Since(began)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", engines[at].name, q.Text(), err)
			}
			results[at].times = append(results[at].times, took)
			if len(found) == 0 {
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
