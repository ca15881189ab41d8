package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cairn/agent/api"
)

// progressWidth is how much of a line is written over each time.
const progressWidth = 60

// progress shows one changing line on the terminal.
func (a *app) progress(what string) {
	line := what + strings.Repeat(" ", max(0, progressWidth-len(what)))
	fmt.Fprintf(a.env.Stderr, "\r%s\r%s", line, what)
}

// showEvery is how often a person who waits sees how far it is.
const showEvery = time.Second

// showing does something that may wait for the search index to be made anew,
// and shows how far that is if a person watches.
func (a *app) showing(ctx context.Context, agent api.Agent, do func() error) error {
	if !a.env.Terminal {
		return do()
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.showRebuild(ctx, agent)
	}()
	err := do()
	stop()
	<-ended
	return err
}

// showRebuild shows the progress of rebuilds until ctx ends. Whatever goes
// wrong is for whoever does the work to say.
func (a *app) showRebuild(ctx context.Context, agent api.Agent) {
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	shown := false
	for {
		select {
		case <-ctx.Done():
			if shown {
				a.progress("")
			}
			return
		case <-tick.C:
		}
		if s, err := agent.Status(ctx); err == nil && s.Rebuild != nil {
			a.progress("search index " + rebuildWords(*s.Rebuild))
			shown = true
		} else if err == nil && s.Embedding != nil {
			a.progress(fmt.Sprintf("vectors made: %d of %d", s.Embedding.Done, s.Embedding.Total))
			shown = true
		}
	}
}

func rebuildWords(p api.Progress) string {
	percent := 0
	if p.Total > 0 {
		percent = min(100, 100*p.Done/p.Total)
	}
	return fmt.Sprintf("being made anew: %d %% (%d of %s)", percent, p.Done, events(p.Total))
}
