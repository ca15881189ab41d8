package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/courier"
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

// ruleUnjudged is the rule of an event of which nothing could be found out.
const ruleUnjudged = "unjudged"

// Admit judges an event that arrives by the same policy as one saved here, as
// far as that is about what must not be seen. What else a team's rules ask of
// its writer was for the hub to ask when it took the event: history does not
// change with a policy.
func (c carried) Admit(hub bool, e event.Event) []intake.Finding {
	if !c.a.isWelcome(hub, e) {
		return []intake.Finding{{Rule: replica.RuleStranger, Field: "actor.device"}}
	}
	err := c.a.decide(e)
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*policy.RefusedError](err)
	if !ok {
		return []intake.Finding{{Rule: ruleUnjudged}}
	}
	if len(refused.Findings) == 0 && len(refused.Violations) > 0 {
		return nil
	}
	unseen := *refused
	unseen.Violations = nil
	var found []intake.Finding
	for _, at := range unseen.Places() {
		found = append(found, intake.Finding{Rule: at.Rule, Field: at.Field})
	}
	return found
}

func (c carried) Raw(space string, kind plumbing.ObjectType, data []byte) []intake.Finding {
	var found []intake.Finding
	for _, f := range c.a.policyOf(space).DecideRawIn(space, kind.String(), data) {
		found = append(found, intake.Finding{Rule: f.Rule, Field: f.Field})
	}
	return found
}

func (c carried) Told(ctx context.Context, t hubwire.Told) error { return c.a.follow(ctx, t) }

// Withhold hides events that came with a history in which they stood already.
func (c carried) Withhold(ctx context.Context, space string, found []replica.Withheld) error {
	var list []api.Refusal
	for _, w := range found {
		list = append(list, api.Refusal{
			ID: w.Event, At: event.NewTime(c.a.opt.Now()), Space: space, By: "machine", Rule: w.Rule, Field: w.Field,
			Hint: "it came from a remote; its author should redact it, and an admin purge it",
		})
	}
	defer c.a.changed()
	return c.a.Service.Withhold(ctx, space, list...)
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
