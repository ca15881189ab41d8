package bench

import (
	"fmt"
	"time"

	"cairn/agent/api"
	"cairn/internal/corpus"
	"cairn/internal/measure"
)

// Seeds of the questions that warm everything up and of those that count.
const (
	warmSeed = iota + 1
	countSeed
)

// ask measures finding: in process, and through the socket as the command line
// and MCP servers do it.
func ask(w *work) error {
	home, err := w.stocked("home")
	if err != nil {
		return err
	}
	m, err := w.own(home)
	if err != nil {
		return err
	}
	notes := corpus.Notes(w.opt.Notes)
	first, err := askOnce(w, m, corpus.Queries(notes, corpus.TwoWords, 1, warmSeed)[0])
	if err != nil {
		return err
	}
	w.rows(measure.NewRow("the first question", measure.Times{first}))
	socket, err := w.client(home, func() error { return errEnded })
	if err != nil {
		return err
	}
	ways := []way{{"", m}, {", socket", socket}}
	for _, list := range questions(notes, warmRuns, warmSeed) {
		if err := askAll(w, ways, list, nil); err != nil {
			return err
		}
	}
	return askInTurns(w, ways, questions(notes, w.opt.Runs, countSeed))
}

// warmRuns is how many questions of each class are asked beforehand.
const warmRuns = 10

// A way to ask.
type way struct {
	name  string
	agent api.Agent
}

// questions are n rounds of one question of each class.
func questions(notes []corpus.Note, n int, seed uint64) [][]corpus.Query {
	rounds := make([][]corpus.Query, n)
	for _, class := range corpus.Classes() {
		for i, q := range corpus.Queries(notes, class, n, seed) {
			rounds[i] = append(rounds[i], q)
		}
	}
	return rounds
}

// askInTurns asks round by round, so that whatever disturbs the machine
// disturbs all classes and ways alike.
func askInTurns(w *work, ways []way, rounds [][]corpus.Query) error {
	times := map[string]measure.Times{}
	for i, round := range rounds {
		w.progress("asking: %d of %d", i, len(rounds))
		err := askAll(w, ways, round, func(row string, took time.Duration) { times[row] = append(times[row], took) })
		if err != nil {
			return err
		}
	}
	for _, way := range ways {
		for _, class := range corpus.Classes() {
			name := string(class) + way.name
			w.rows(measure.NewRow(name, times[name]))
		}
	}
	return nil
}

func askAll(w *work, ways []way, round []corpus.Query, took func(row string, d time.Duration)) error {
	for _, q := range round {
		for _, way := range ways {
			d, err := askOnce(w, way.agent, q)
			if err != nil {
				return err
			}
			if took != nil {
				took(string(q.Class)+way.name, d)
			}
		}
	}
	return nil
}

// askOnce asks and requires an answer: each question has one.
func askOnce(w *work, a api.Agent, q corpus.Query) (time.Duration, error) {
	began := time.Now()
	answer, err := a.Ask(w.ctx, api.Query{Text: q.Text()})
	took := time.Since(began)
	if err == nil && len(answer.Hits) == 0 {
		err = fmt.Errorf("%s %q found nothing: %s", q.Class, q.Text(), answer.Note)
	}
	return took, err
}
