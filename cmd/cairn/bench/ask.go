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
	socketWarmSeed
	socketCountSeed
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
	ways := []way{
		{"", m, questions(notes, warmRuns, warmSeed), questions(notes, w.opt.Runs, countSeed)},
		{", socket", socket, questions(notes, warmRuns, socketWarmSeed), questions(notes, w.opt.Runs, socketCountSeed)},
	}
	for _, way := range ways {
		for _, round := range way.warm {
			if _, err := way.ask(w, round); err != nil {
				return err
			}
		}
	}
	return askInTurns(w, ways)
}

// warmRuns is how many questions of each class are asked beforehand.
const warmRuns = 10

// A way to ask has questions of its own: the second to ask the same would find
// the answer at hand.
type way struct {
	name        string
	agent       api.Agent
	warm, count []round
}

// A round is one question of each class, in their order.
type round []corpus.Query

func questions(notes []corpus.Note, n int, seed uint64) []round {
	rounds := make([]round, n)
	for _, class := range corpus.Classes() {
		for i, q := range corpus.Queries(notes, class, n, seed) {
			rounds[i] = append(rounds[i], q)
		}
	}
	return rounds
}

// askInTurns asks round by round, so that whatever disturbs the machine
// disturbs all classes and ways alike.
func askInTurns(w *work, ways []way) error {
	classes := corpus.Classes()
	times := make([][]measure.Times, len(ways)) // by way and class
	for i := range times {
		times[i] = make([]measure.Times, len(classes))
	}
	for n := range w.opt.Runs {
		w.progress("asking: %d of %d", n, w.opt.Runs)
		for i, way := range ways {
			took, err := way.ask(w, way.count[n])
			if err != nil {
				return err
			}
			for k, d := range took {
				times[i][k] = append(times[i][k], d)
			}
		}
	}
	for i, way := range ways {
		for k, class := range classes {
			w.rows(measure.NewRow(string(class)+way.name, times[i][k]))
		}
	}
	return nil
}

// ask asks the questions of a round and says how long each took.
func (y way) ask(w *work, questions round) (took measure.Times, err error) {
	for _, q := range questions {
		d, err := askOnce(w, y.agent, q)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
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
