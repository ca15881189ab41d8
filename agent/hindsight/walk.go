package hindsight

import (
	"context"
	"errors"

	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// errOther ends a walk whose rules are not those of now any more.
var errOther = errors.New("the rules have changed")

// A walk is a pass at work.
type walk struct {
	*Keeper
	space string
	judge Judge
	pass  *pass

	done, total      int
	hidden, returned int
	hide             []Unfit
	back             []event.ID
	seen             int // since the last settlement
}

func (w *walk) event(ctx context.Context, s eventlog.Stored) error {
	w.done++
	if s.Corrupt() != nil {
		return nil
	}
	w.look(s)
	w.pass.After = s.ID
	if w.seen++; w.seen < w.opt.Step {
		return nil
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.opt.Judge(w.space).Basis() != w.judge.Basis() {
		return errOther
	}
	return nil
}

// look judges one event. What is withheld is looked at whole: it may be for a
// secret.
func (w *walk) look(s eventlog.Stored) {
	withheld := w.opt.Withheld(w.space, s.ID)
	places := w.judge.stored(s, w.pass.Texts || withheld)
	switch {
	case len(places) > 0 && !withheld:
		w.hide = append(w.hide, Unfit{s.ID, places[0]})
	case len(places) == 0 && withheld:
		w.back = append(w.back, s.ID)
	}
}

// settle makes what was found count, and then remembers how far the walk is.
func (w *walk) settle(ctx context.Context) error {
	w.tell(Progress{Running: true, Done: w.done, Total: w.total})
	w.hidden, w.returned = w.hidden+len(w.hide), w.returned+len(w.back)
	if len(w.hide)+len(w.back) > 0 {
		if err := w.opt.Settle(ctx, w.space, w.hide, w.back); err != nil {
			return err
		}
	}
	w.hide, w.back, w.seen = nil, nil, 0
	return w.save()
}
