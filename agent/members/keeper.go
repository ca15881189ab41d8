package members

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"cairn/agent/hubstate"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy/roster"
)

// A Keeper keeps the list of one home. It is safe for concurrent use.
type Keeper struct {
	list *hubstate.Keeper[list, int64]
}

// A Hub is the hub as the machine knows it, and how to ask it for its list.
type Hub struct {
	hubstate.Hub
	Roster func(context.Context) (hubwire.RosterAnswer, error)
}

// list is the file, and what it says.
type list struct {
	Key    ed25519.PublicKey `json:"key"`
	Hub    event.ID          `json:"hub"`
	Roster []byte            `json:"roster"`

	number  int64
	devices map[event.DeviceID]bool
}

// Open reads what is kept at path. A list that cannot be read is none, and
// trouble.
func Open(fsys disk.FS, path string) *Keeper {
	return &Keeper{hubstate.Open[list, int64](fsys, path, "every device counts as known", (*list).read)}
}

// read checks the list, and makes the rest of l.
func (l *list) read() error {
	r, err := roster.Decode(l.Roster, l.Hub, l.Key)
	if err != nil {
		return err
	}
	l.number, l.devices = r.Number, map[event.DeviceID]bool{}
	for _, d := range r.Devices {
		l.devices[d.ID] = true
	}
	return nil
}

// Knows says whether a device is, or was, a member's. Without a list every one
// counts as known.
func (k *Keeper) Knows(id event.DeviceID) bool {
	l, _ := k.list.Now()
	return l == nil || l.devices[id]
}

// Trouble is why the hub's list was not taken the last time, or why the one that
// was kept cannot be read: a *hubstate.DamagedError. It is nil if all is well.
func (k *Keeper) Trouble() error {
	_, trouble := k.list.Now()
	return trouble
}

// Follow brings the list of that number, unless the machine has it or a newer
// one. What does not carry the hub's signature, or is older than what the
// machine has, is not taken, and not asked for again under that number: the list
// that is there stays, and Trouble says why. The error is of asking, or of the
// disk.
func (k *Keeper) Follow(ctx context.Context, hub Hub, number int64) error {
	return k.list.Follow(ctx, hub.Hub, number, func(kept *list) (*list, error) {
		if !kept.isBefore(hub.ID, number) {
			return nil, nil
		}
		a, err := hub.Roster(ctx)
		if err != nil {
			return nil, fmt.Errorf("bring the list of members: %w", err)
		}
		next, err := kept.next(hub.Hub, a)
		if err != nil {
			return nil, &hubstate.RefusedError{Why: fmt.Errorf("the hub's list of members, number %d, is not taken: %w", number, err)}
		}
		return next, nil
	})
}

// next is the list in an answer, if it is to be taken.
func (l *list) next(hub hubstate.Hub, a hubwire.RosterAnswer) (*list, error) {
	if err := hub.Check(a.Key); err != nil {
		return nil, err
	}
	next := &list{Key: a.Key, Hub: hub.ID, Roster: a.Roster}
	if err := next.read(); err != nil {
		return nil, err
	}
	if !l.isBefore(hub.ID, next.number) {
		return nil, errOlder
	}
	return next, nil
}

var errOlder = errors.New("it is older than the one that is here")

// isBefore says whether a list of that number is newer; anything is newer than
// none, or than another hub's.
func (l *list) isBefore(hub event.ID, number int64) bool {
	return l == nil || l.Hub != hub || number > l.number
}
