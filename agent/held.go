package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/internal/event"
	"cairn/internal/problem"
)

// held lists the events of a space that wait for their time: those that lie
// ahead of this machine's clock, and those that a hub does not take yet.
func (a *Agent) held(ctx context.Context, space string) ([]event.ID, error) {
	ids, err := a.Ahead(space)
	if err != nil {
		return nil, err
	}
	for _, l := range a.courier.Links(space, "") {
		w, err := l.Waiting(ctx)
		if err != nil {
			return nil, err
		}
		ids = append(ids, w.Held.Events...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// heldUntil is when the last of them has its time.
func heldUntil(ids []event.ID) event.Time {
	return event.NewTime(ids[len(ids)-1].Time().Add(-event.MaxAhead))
}

// fastest is by how much a clock may differ from the hub's without a word of
// doctor's.
const fastest = time.Minute

// clock compares this machine's clock with the hub's, and says which events
// wait because of a clock.
func (d *doctor) clock() {
	words, wrong := d.skew()
	for _, name := range d.a.Spaces() {
		ids, err := d.a.held(d.ctx, name)
		if err != nil {
			continue // the check of the space says why
		}
		if len(ids) > 0 {
			words = append(words, heldWords(name, ids))
		}
	}
	if len(words) == 0 {
		words = []string{"no event waits for its time"}
	}
	detail := strings.Join(words, "; ")
	var err error
	if wrong {
		err = problem.New(problem.Failed, detail)
	}
	d.add("clock", detail, err, "set this machine's clock; events that wait are kept and go by themselves when their time has come")
}

// skew measures against the hub. wrong says that events wait because of it.
func (d *doctor) skew() (words []string, wrong bool) {
	hub := d.a.courier.Hub()
	if hub == nil {
		return nil, false
	}
	ctx, stop := context.WithTimeout(d.ctx, hubPatience)
	defer stop()
	if err := hub.ReadClock(ctx); err != nil {
		return nil, false // the checks of sync say what is wrong with the hub
	}
	there, _, ok := hub.Clock()
	if !ok {
		return nil, false
	}
	ahead := d.a.opt.Now().Sub(there)
	switch {
	case ahead > fastest:
		return []string{fmt.Sprintf("this machine's clock is %s ahead of the hub's", ahead.Round(time.Second))}, ahead > event.MaxAhead
	case ahead < -fastest:
		return []string{fmt.Sprintf("this machine's clock is %s behind the hub's", (-ahead).Round(time.Second))}, -ahead > event.MaxAhead
	default:
		return []string{"level with the hub's"}, false
	}
}

// hubPatience is how long doctor waits for the hub's clock.
const hubPatience = 3 * time.Second

// heldShown is how many events doctor names.
const heldShown = 5

func heldWords(space string, ids []event.ID) string {
	var names []string
	for _, id := range ids[:min(len(ids), heldShown)] {
		names = append(names, id.Short())
	}
	more := ""
	if len(ids) > heldShown {
		more = " …"
	}
	return fmt.Sprintf("%d events of space %s lie ahead of the time and wait, the last until %s UTC: %s%s",
		len(ids), space, heldUntil(ids).Format("2006-01-02 15:04:05"), strings.Join(names, " "), more)
}

// setHeld puts what waits into the state of a space.
func setHeld(s *api.SpaceStatus, ids []event.ID) {
	if s.Held = len(ids); s.Held > 0 {
		until := heldUntil(ids)
		s.HeldUntil = &until
	}
}
