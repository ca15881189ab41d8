package bench

import (
	"context"
	"errors"
	"os"
	"time"

	"cairn/agent"
	"cairn/agent/api"
	"cairn/cmd/cairn/mcpclient"
	"cairn/internal/corpus"
	"cairn/internal/measure"
	"cairn/internal/memuse"
	"cairn/internal/paths"
)

// mcp measures what an AI tool waits for when it starts "cairn mcp" on a
// machine where no agent runs and the index is gone.
func mcp(w *work) error {
	home, err := w.stocked("home")
	if err != nil {
		return err
	}
	questions := corpus.Queries(corpus.Notes(w.opt.Notes), corpus.TwoWords, w.opt.Runs, countSeed)
	var initialize, recall measure.Times
	found := 0
	for i, q := range questions {
		w.progress("starting an MCP server: %d of %d", i, len(questions))
		c, err := w.coldStart(home, q)
		if err != nil {
			return err
		}
		initialize, recall = append(initialize, c.initialize), append(recall, c.recall)
		if c.hits > 0 {
			found++
		}
	}
	w.rows(measure.NewRow("to the answer of initialize", initialize), measure.NewRow("to the answer of recall", recall))
	if err := w.atRest(home); err != nil {
		return err
	}
	if found < len(questions) {
		w.remark("the first recall came before its note was indexed again in %d of %d runs", len(questions)-found, len(questions))
	}
	return nil
}

// A cold start is how long the first answers took, from the start of the
// process on.
type cold struct {
	initialize, recall time.Duration
	hits               int
}

func (w *work) coldStart(home paths.Home, q corpus.Query) (c cold, err error) {
	if err := os.RemoveAll(home.Index()); err != nil {
		return c, err
	}
	began := time.Now()
	client, err := mcpclient.Start(w.ctx, w.opt.Program, home, "bench")
	if err != nil {
		return c, err
	}
	// The server has started an agent by then; it must be gone the next time.
	defer func() { err = errors.Join(err, client.Close(), agent.Stop(context.Background(), home)) }()
	c.initialize = time.Since(began)
	answer, err := client.Call(w.ctx, "recall", map[string]any{"query": q.Text()})
	c.recall, c.hits = time.Since(began), len(answer.Hits)
	return c, err
}

// restTime is how long an agent has nothing to do before its memory counts.
const restTime = 5 * time.Second

// atRest measures what an agent takes that has indexed everything and has
// nothing to do. Pages of the index that the system can drop count as well;
// private is what it cannot.
func (w *work) atRest(home paths.Home) error {
	a, err := w.agentProcess(home)
	if err != nil {
		return err
	}
	w.progress("letting an agent come to rest")
	err = w.untilIn(personal, a, func(s api.SpaceStatus) bool { return s.Indexed == s.Events })
	if err != nil {
		return err
	}
	select {
	case <-w.ctx.Done():
		return w.ctx.Err()
	case <-time.After(restTime):
	}
	use, err := memuse.Of(a.pid)
	if errors.Is(err, memuse.ErrUnknown) {
		w.remark("what an agent takes at rest is not measured here: %v", err)
		return nil
	}
	w.amounts(megabytes("agent at rest, memory", use.Resident), megabytes("agent at rest, private memory", use.Private))
	return err
}
