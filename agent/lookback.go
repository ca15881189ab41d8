package agent

import (
	"context"
	"errors"
	"time"

	"cairn/agent/api"
	"cairn/agent/hindsight"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// judgeOf is what the history of a space is judged by at this moment.
func (a *Agent) judgeOf(space string) hindsight.Judge {
	by := a.team.BuiltIn().Hindsight(time.Time{}, nil, true)
	if len(a.courier.Links(space, hubRemote)) > 0 {
		by = a.team.Hindsight()
	}
	return hindsight.NewJudge(space, by, a.isHubs)
}

func (a *Agent) newHindsight() *hindsight.Keeper {
	return hindsight.New(hindsight.Options{
		FS: a.opt.FS, Path: a.opt.Home.Judged(), Program: a.opt.Version,
		Judge: a.judgeOf, Spaces: a.openLogs, Withheld: a.Withheld, Settle: a.settleBack, Log: a.log,
	})
}

// lookEvery is how late a machine may notice that an exception or a trial of the
// policy has ended.
const lookEvery = time.Minute

// lookBack judges what is there again whenever the rules are others, until ctx
// ends.
func (a *Agent) lookBack(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := a.hindsight.Look(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("judging what is there; it is tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.hindsight.Woken():
		case <-tick.C:
		}
	}
}

// settle withholds events of a space, and gives back others.
func (a *Agent) settle(ctx context.Context, space string, hide []hindsight.Unfit, back []event.ID) error {
	var list []api.Refusal
	for _, u := range hide {
		list = append(list, api.Refusal{
			ID: u.Event, At: event.NewTime(a.opt.Now()), Space: space, By: "machine", Rule: u.Rule, Field: u.Field,
			Hint: "it is in the history; if it holds a secret its author should redact it, and an admin purge it",
		})
	}
	defer a.changed()
	if len(list) > 0 {
		if err := a.Withhold(ctx, space, list...); err != nil {
			return err
		}
	}
	return a.GiveBack(ctx, space, back...)
}

// settleBack is settle for events that are in a log, or were when somebody
// looked. Those that have left it since are not withheld.
func (a *Agent) settleBack(ctx context.Context, space string, hide []hindsight.Unfit, back []event.ID) error {
	if err := a.settle(ctx, space, hide, back); err != nil || len(hide) == 0 {
		return err
	}
	log := a.openLogs()[space]
	head, err := log.Head()
	if err != nil {
		return err
	}
	var left []event.ID
	for _, u := range hide {
		if _, err := log.Event(head.Tree, u.Event); errors.Is(err, eventlog.ErrNotFound) {
			left = append(left, u.Event)
		}
	}
	return a.GiveBack(ctx, space, left...)
}
