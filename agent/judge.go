package agent

import (
	"context"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/courier"
	"cairn/agent/hindsight"
	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy"
	"cairn/sync/eventlog"
	"cairn/sync/intake"
	"cairn/sync/replica"
)

// carried is the memory as the courier sees it.
func (a *Agent) carried() courier.Memory { return carried{a} }

type carried struct{ a *Agent }

func (c carried) Space(_ context.Context, name string, id event.ID) (*eventlog.Log, error) {
	return c.a.ensureSpace(name, id)
}

func (c carried) Follow(ctx context.Context, space string) error { return c.a.Follow(ctx, space) }

// Admit judges an event that arrives as one that is here already: what came
// first makes no difference.
func (c carried) Admit(hub bool, e event.Event) []intake.Finding {
	if !c.a.isWelcome(hub, e) {
		return []intake.Finding{{Rule: replica.RuleStranger, Field: "actor.device"}}
	}
	return findings(c.a.judgeOf(e.Space).Event(e))
}

func (c carried) Raw(space string, kind plumbing.ObjectType, data []byte) []intake.Finding {
	return findings(c.a.judgeOf(space).Raw(kind.String(), data))
}

func findings(places []policy.Place) (found []intake.Finding) {
	for _, at := range places {
		found = append(found, intake.Finding{Rule: at.Rule, Field: at.Field})
	}
	return found
}

func (c carried) Told(ctx context.Context, t hubwire.Told) error {
	defer c.a.hindsight.Wake()
	return c.a.follow(ctx, t)
}

// Withhold hides events that came with a history in which they stood already.
func (c carried) Withhold(ctx context.Context, space string, found []replica.Withheld) error {
	var list []hindsight.Unfit
	for _, w := range found {
		list = append(list, hindsight.Unfit{Event: w.Event, Place: policy.Place{Rule: w.Rule, Field: w.Field}})
	}
	return c.a.settle(ctx, space, list, nil)
}

func (c carried) Pushed(space string) (disk.FS, string) {
	return c.a.opt.FS, c.a.opt.Home.Pushed(space)
}

func (c carried) Renew(ctx context.Context, device event.DeviceID) error {
	return c.a.renew(ctx, device)
}

// Park keeps refused events as files outside the log and lists them.
func (c carried) Park(ctx context.Context, space string, parked []replica.Parked) error {
	dir := c.a.opt.Home.Parked(space)
	if err := disk.MakeDir(c.a.opt.FS, dir, 0o700); err != nil {
		return err
	}
	for _, p := range parked {
		if err := atomicfile.Write(c.a.opt.FS, filepath.Join(dir, string(p.ID)+".json"), p.Bytes, 0o600); err != nil {
			return err
		}
	}
	return c.a.AddRefusals(ctx, c.Refusals(parked)...)
}

// Left takes off the list of withheld events what the machine itself found in
// them: why they are refused is the hub's word now.
func (c carried) Left(ctx context.Context, space string, parked []replica.Parked) error {
	var ids []event.ID
	for _, p := range parked {
		ids = append(ids, p.ID)
	}
	return c.a.GiveBack(ctx, space, ids...)
}

func (c carried) Refusals(parked []replica.Parked) []api.Refusal {
	var list []api.Refusal
	for _, p := range parked {
		list = append(list, api.Refusal{
			ID: p.ID, At: event.NewTime(c.a.opt.Now()), Space: p.Event.Space, Kind: p.Event.Kind, By: "hub", Rule: p.Rule, Field: p.Field,
			Hint: "it is kept in " + filepath.Join(c.a.opt.Home.Parked(p.Event.Space), string(p.ID)+".json") + "; change the text and save it again",
		})
	}
	return list
}
