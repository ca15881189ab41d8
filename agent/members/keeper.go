package members

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy/roster"
)

// A Keeper keeps the list of one home. It is safe for concurrent use.
type Keeper struct {
	fs   disk.FS
	path string
	turn chan struct{} // who asks the hub has it

	mu     sync.Mutex // guards the three below
	hub    event.ID
	number int64
	people map[event.DeviceID]string // nil for no list
}

// A Hub is the hub as the machine knows it from its invite, and how to ask it
// for its list.
type Hub struct {
	ID          event.ID
	Fingerprint string
	Roster      func(context.Context) (hubwire.RosterAnswer, error)
}

// file is what is kept.
type file struct {
	Key    ed25519.PublicKey `json:"key"`
	Hub    event.ID          `json:"hub"`
	Roster []byte            `json:"roster"`
}

// Open reads what is kept at path. A list that cannot be read is none: the next
// exchange brings it again.
func Open(fsys disk.FS, path string) (*Keeper, error) {
	k := &Keeper{fs: fsys, path: path, turn: make(chan struct{}, 1)}
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("read the list of members: %w", err)
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return k, fmt.Errorf("read the list of members: %w", err)
	}
	r, err := roster.Decode(f.Roster, f.Hub, f.Key)
	if err != nil {
		return k, fmt.Errorf("read the list of members: %w", err)
	}
	k.use(r)
	return k, nil
}

// use is called with mu held, or before others know the Keeper.
func (k *Keeper) use(r roster.Roster) {
	k.hub, k.number, k.people = r.Hub, r.Number, map[event.DeviceID]string{}
	for _, d := range r.Devices {
		k.people[d.ID] = d.Person
	}
}

// Knows says whether a device is, or was, a member's. Without a list every one
// counts as known.
func (k *Keeper) Knows(id event.DeviceID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.people[id]
	return ok || k.people == nil
}

// Follow brings the list of that number, unless the machine has it or a newer
// one. What does not carry the hub's signature, or is older than what the
// machine has, is not taken and no error: the list that is there stays. The
// error is of asking, or of the disk.
func (k *Keeper) Follow(ctx context.Context, hub Hub, number int64) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if number <= k.have(hub.ID) {
		return nil
	}
	a, err := hub.Roster(ctx)
	if err != nil {
		return fmt.Errorf("bring the list of members: %w", err)
	}
	if hubwire.Fingerprint(a.Key) != hub.Fingerprint {
		return nil
	}
	r, err := roster.Decode(a.Roster, hub.ID, a.Key)
	if err != nil || r.Number <= k.have(hub.ID) {
		return nil
	}
	b, err := json.Marshal(file{Key: a.Key, Hub: hub.ID, Roster: a.Roster})
	if err != nil {
		return fmt.Errorf("keep the list of members: %w", err)
	}
	if err := atomicfile.Write(k.fs, k.path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the list of members: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.use(r)
	return nil
}

func (k *Keeper) have(hub event.ID) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hub != hub {
		return 0
	}
	return k.number
}
