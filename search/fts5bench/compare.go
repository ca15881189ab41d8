package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"cairn/internal/corpus"
	"cairn/internal/measure"
)

// An engine finds the best notes.
type engine struct {
	name  string
	built built
	grow  func(context.Context) error // adds the notes that come later
	ask   find
	cold  find // opens it anew for this one question
	close func() error
}

// A built is what it took to make an engine of the notes that do not come later.
type built struct {
	cpu  time.Duration // 0 where that is not known
	size int64         // of its files, in bytes
}

// build runs fill, which makes what is at path.
func build(path string, fill func() error) (b built, err error) {
	before := cpuTime()
	if err := fill(); err != nil {
		return b, err
	}
	b.cpu = cpuTime() - before
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			b.size += info.Size()
		}
		return err
	})
	return b, err
}

// A find returns the places of the notes that were found, best first.
type find func(context.Context, question) (found []int, err error)

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

const (
	warmRuns = 10
	coldRuns = 20 // at most, for each opens every engine
)

// A stage is a state in which engines are asked.
type stage struct {
	name string
	find func(engine) find
	runs int
	warm bool // some questions come first that do not count
	// alone has each engine answer all questions of a class before the next one
	// does, with the caches of the processor to itself.
	alone bool
}

func stages(runs int) (fresh, live, alone, cold stage) {
	warm := func(e engine) find { return e.ask }
	return stage{name: "fresh", find: warm, runs: runs, warm: true},
		stage{name: "live", find: warm, runs: runs, warm: true},
		stage{name: "alone", find: warm, runs: runs, alone: true},
		stage{name: "cold", find: func(e engine) find { return e.cold }, runs: min(runs, coldRuns)}
}

// compare builds every engine of the same notes below dir and lets them answer
// the same questions in turns: as they were built, after more notes came one by
// one, and opened anew for each question.
func compare(ctx context.Context, dir string, notes, runs int) (r measure.Report, err error) {
	all := corpus.Notes(notes)
	engines, err := openAll(ctx, dir, all)
	defer func() { err = errors.Join(err, closeAll(engines)) }()
	if err != nil {
		return r, err
	}
	r = measure.Report{Bench: "fts5", Machine: measure.ThisMachine(), Notes: notes, Rows: []measure.Row{}}
	reportBuilt(&r, engines)
	fresh, live, alone, cold := stages(runs)
	if err := fresh.run(ctx, &r, engines, all); err != nil {
		return r, err
	}
	if err := growAll(ctx, engines); err != nil {
		return r, err
	}
	if err := live.run(ctx, &r, engines, all); err != nil {
		return r, err
	}
	if err := alone.run(ctx, &r, engines, all); err != nil {
		return r, err
	}
	return r, cold.run(ctx, &r, engines, all)
}

func (s stage) run(ctx context.Context, r *measure.Report, engines []engine, notes []corpus.Note) error {
	asked, _ := split(notes) // of which every stage has the answers
	for _, class := range corpus.Classes() {
		if !s.warm {
			break
		}
		if _, err := s.ask(ctx, engines, corpus.Queries(asked, class, warmRuns, warmSeed)); err != nil {
			return err
		}
	}
	for _, class := range corpus.Classes() {
		results, err := s.ask(ctx, engines, corpus.Queries(asked, class, s.runs, countSeed))
		if err != nil {
			return err
		}
		s.report(r, class, engines, results)
	}
	return nil
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

// reportBuilt adds what it took to make each engine.
func reportBuilt(r *measure.Report, engines []engine) {
	amounts := func(e engine) []measure.Amount {
		return []measure.Amount{
			{Name: "building, " + e.name + ", CPU", Value: e.built.cpu.Seconds(), Unit: "s"},
			{Name: "size, " + e.name, Value: float64(e.built.size) / (1 << 20), Unit: "MB"},
		}
	}
	ours := amounts(engines[0])
	for i, e := range engines {
		for k, a := range amounts(e) {
			if i > 0 {
				a = a.Beside(ours[k])
			}
			if a.Value > 0 {
				r.Amounts = append(r.Amounts, a)
			}
		}
	}
}

// growAll adds the notes that come later to every engine.
func growAll(ctx context.Context, engines []engine) error {
	for _, e := range engines {
		if err := e.grow(ctx); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
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
	cpu   time.Duration // of all questions
	empty int           // questions that found nothing
}

// ask lets every engine answer each question before the next one, and another
// engine begin each time; or, alone, each engine all questions.
func (s stage) ask(ctx context.Context, engines []engine, queries []corpus.Query) ([]result, error) {
	results := make([]result, len(engines))
	one := func(at int, q corpus.Query) error {
		cpu, began := cpuTime(), time.Now()
		found, err := s.find(engines[at])(ctx, questionOf(q))
		took := time.Since(began)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", engines[at].name, q.Text(), err)
		}
		results[at].times = append(results[at].times, took)
		results[at].cpu += cpuTime() - cpu
		if len(found) == 0 {
			results[at].empty++
		}
		return nil
	}
	for n := range len(engines) * len(queries) {
		i, k := n/len(engines), n%len(engines)
		at := (i + k) % len(engines)
		if s.alone {
			at, i = n/len(queries), n%len(queries)
		}
		if err := one(at, queries[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// report adds the rows of a class; the peer of all is the first engine.
func (s stage) report(r *measure.Report, class corpus.Class, engines []engine, results []result) {
	first := measure.NewRow(s.rowName(class, engines[0]), results[0].times)
	firstCPU := s.cpuOf(class, engines[0], results[0])
	r.Rows = append(r.Rows, first)
	for i, e := range engines {
		if i > 0 {
			r.Rows = append(r.Rows, measure.NewRow(s.rowName(class, e), results[i].times).Beside(first))
		}
		if cpu := s.cpuOf(class, e, results[i]); i == 0 && cpu.Value > 0 {
			r.Amounts = append(r.Amounts, cpu)
		} else if cpu.Value > 0 {
			r.Amounts = append(r.Amounts, cpu.Beside(firstCPU))
		}
		if n := results[i].empty; n > 0 {
			r.Remarks = append(r.Remarks, fmt.Sprintf("%s: nothing found in %d of %d", s.rowName(class, e), n, len(results[i].times)))
		}
	}
}

// cpuOf is what the process spent on a question, in the mean; 0 where that is
// not known.
func (s stage) cpuOf(class corpus.Class, e engine, r result) measure.Amount {
	ms := float64(r.cpu) / float64(time.Millisecond) / float64(max(len(r.times), 1))
	return measure.Amount{Name: s.rowName(class, e) + ", CPU", Value: ms, Unit: "ms"}
}

func (s stage) rowName(class corpus.Class, e engine) string {
	return string(class) + ", " + s.name + ", " + e.name
}
