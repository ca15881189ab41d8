package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"cairn/agent/api"
	"cairn/internal/config"
	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/sync/replica"
)

// auditRenewed is what the audit event of a renewal is called.
const auditRenewed = "device-renewed"

// renew gives this machine a key of its own, after the hub found out that
// another copy of it goes on with the key of device. Whatever breaks off is
// taken up where it was: the next key is stored before the hub hears of it.
func (a *Agent) renew(ctx context.Context, old event.DeviceID) error {
	a.renewing.Lock()
	defer a.renewing.Unlock()
	hub := a.courier.Hub()
	if a.key.Load().ID() != old || hub == nil {
		return nil // done meanwhile
	}
	if a.owner == nil {
		return problem.New(problem.Busy, "another process owns this memory, and only it can change the device key")
	}
	next, err := nextKey(a.opt.FS, a.opt.Home.NextKey())
	if err != nil {
		return fmt.Errorf("make a key of this machine's own: %w", err)
	}
	if err := hub.Renew(ctx, next); err != nil {
		return fmt.Errorf("enrol a key of this machine's own: %w", err)
	}
	if err := a.adopt(hub, old, next); err != nil {
		return fmt.Errorf("take a key of this machine's own into use: %w", err)
	}
	a.log.Warn("this machine has a new device key: another copy of it goes on with the old one, or it was restored", "old", old, "new", next.ID())
	return a.auditRenewal(ctx, old)
}

// enrolAnew joins with a key of its own for the one that was revoked, which
// never comes back: whoever gave the invite wants this machine in again.
func (a *Agent) enrolAnew(ctx context.Context, in invite.Invite, have *config.Hub) (hubwire.Enrolled, error) {
	a.renewing.Lock()
	defer a.renewing.Unlock()
	old := a.key.Load().ID()
	next, err := nextKey(a.opt.FS, a.opt.Home.NextKey())
	if err != nil {
		return hubwire.Enrolled{}, fmt.Errorf("make a new device key: %w", err)
	}
	enrolled, err := replica.Enrol(ctx, in, next, a.machineName())
	if err == nil {
		err = onlyHub(have, enrolled) // before the key that the other hub knows is given up
	}
	if err != nil {
		return hubwire.Enrolled{}, err
	}
	if err := a.useKey(a.courier.Hub(), next); err != nil {
		return hubwire.Enrolled{}, fmt.Errorf("take the new device key into use: %w", err)
	}
	a.log.Warn("this machine has a new device key: the old one was revoked", "old", old, "new", next.ID())
	return enrolled, nil
}

// nextKey is the key that was made before an earlier attempt broke off, or a
// new one.
func nextKey(fsys disk.FS, path string) (device.Key, error) {
	next, err := device.Load(fsys, path)
	if errors.Is(err, device.ErrNoKey) {
		return device.Create(fsys, path)
	}
	return next, err
}

// adopt puts next, which the hub knows, in the place of the device key. What
// doctor says of it is stored first.
func (a *Agent) adopt(hub *replica.Hub, old event.DeviceID, next device.Key) error {
	err := a.changeConfig(func(c *config.Config) {
		c.Renewed = &config.Renewal{From: old, To: next.ID(), At: event.NewTime(a.opt.Now())}
	})
	if err != nil {
		return err
	}
	return a.useKey(hub, next)
}

// useKey makes next the device key. hub is nil if there is none yet.
func (a *Agent) useKey(hub *replica.Hub, next device.Key) error {
	home := a.opt.Home
	if err := a.opt.FS.Rename(home.NextKey(), home.DeviceKey()); err != nil {
		return err
	}
	a.key.Store(&next)
	a.Rekey(next)
	var err error
	if hub != nil {
		err = hub.Rekey(next)
	}
	return errors.Join(err, a.opt.FS.SyncDir(filepath.Dir(home.DeviceKey())))
}

// auditRenewal tells the person's other machines.
func (a *Agent) auditRenewal(ctx context.Context, old event.DeviceID) error {
	_, err := a.Remember(ctx, api.Draft{
		Space: scope.Personal, Actor: event.Actor{Kind: event.ActorSystem, ID: "cairn"},
		Payload: &event.Audit{
			What: auditRenewed, Target: string(old),
			Detail: fmt.Sprintf("Machine %s goes on as device %s: %s.", a.machineName(), a.key.Load().ID(), whyRenewed(old)),
		},
	})
	return err
}

func whyRenewed(old event.DeviceID) string {
	return "another copy of it uses the key of device " + string(old) + ", or it was restored from a backup"
}

// deviceWords is what doctor says of the device key.
func (a *Agent) deviceWords() string {
	id := a.key.Load().ID()
	words := "device " + string(id)
	a.mu.Lock()
	renewed := a.config.Renewed
	a.mu.Unlock()
	if renewed == nil || renewed.To != id {
		return words
	}
	return fmt.Sprintf("%s since %s, when this machine got a key of its own: %s. Nothing was lost. "+
		"To shut the other copy out, join again with a new invite, then have an admin revoke %s",
		words, renewed.At.Format("2006-01-02 15:04"), whyRenewed(renewed.From), renewed.From)
}
