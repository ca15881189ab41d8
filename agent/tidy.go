package agent

import (
	"context"
	"time"

	"cairn/sync/eventlog"
)

// tidyEvery is how often the replicas are looked at. A look is cheap: notes are
// settled if some were saved, packs joined if there are many small ones, and
// nothing is done for a replica that is tidy and has not changed.
const tidyEvery = 5 * time.Second

// closeWait is how long the end of an agent waits for what it could as well
// leave to the next one.
const closeWait = 5 * time.Second

// tidy keeps the replicas in order until ctx ends.
func (a *Agent) tidy(ctx context.Context) {
	a.finishPurges(ctx)
	kept := map[*eventlog.Log]*eventlog.Upkeep{}
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-a.backlog:
		}
		for name, l := range a.openLogs() {
			if kept[l] == nil {
				kept[l] = eventlog.NewUpkeep(l, eventlog.RestAfter)
			}
			a.tidyLog(ctx, name, l, kept[l])
		}
	}
}

func (a *Agent) tidyLog(ctx context.Context, name string, l *eventlog.Log, u *eventlog.Upkeep) {
	a.finishPurge(ctx, name, l)
	stats, err := u.Look(ctx, time.Now())
	switch {
	case err != nil && ctx.Err() == nil:
		a.log.Warn("tidying up", "space", name, "err", err)
	case stats.Packs > 0:
		a.log.Debug("joined packs", "space", name, "packs", stats.Packs, "before", stats.Before, "after", stats.After)
	}
}

// wakeTidy is called by logs with much to settle.
func (a *Agent) wakeTidy() {
	select {
	case a.backlog <- struct{}{}:
	default: // somebody has called before
	}
}

// settleAll leaves repositories behind in which nothing needs recovery. What
// cannot be settled is safe in the write-ahead log.
func (a *Agent) settleAll() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	for name, l := range a.openLogs() {
		if err := l.Settle(ctx); err != nil {
			a.log.Warn("leaving notes in the write-ahead log", "space", name, "err", err)
		}
	}
}

func (a *Agent) openLogs() map[string]*eventlog.Log {
	a.mu.Lock()
	defer a.mu.Unlock()
	logs := make(map[string]*eventlog.Log, len(a.logs))
	for name, l := range a.logs {
		logs[name] = l
	}
	return logs
}
