package agent

import (
	"context"
	"time"

	"cairn/sync/eventlog"
)

// tidyEvery is how often the replicas are looked at. A look is cheap; packs are
// joined only when there are many small ones.
const tidyEvery = 5 * time.Second

// tidy keeps the replicas in order until ctx ends.
func (a *Agent) tidy(ctx context.Context) {
	for sleep(ctx, tidyEvery) == nil {
		for name, l := range a.openLogs() {
			stats, err := l.Tidy(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				a.log.Warn("tidying up", "space", name, "err", err)
			case stats.Packs > 0:
				a.log.Debug("joined packs", "space", name, "packs", stats.Packs, "before", stats.Before, "after", stats.After)
			}
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
