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

	mu      sync.Mutex // guards what is below
	hub     event.ID
	number  int64
	devices map[event.DeviceID]bool // nil for no list
	spurned spurned
}

// A spurned list is one that was not taken, and why not.
type spurned struct {
	hub    event.ID
	number int64
	why    error
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
	k.hub, k.number, k.devices = r.Hub, r.Number, map[event.DeviceID]bool{}
	for _, d := range r.Devices {
		k.devices[d.ID] = true
	}
}

// Knows says whether a device is, or was, a member's. Without a list every one
// counts as known.
func (k *Keeper) Knows(id event.DeviceID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.devices == nil || k.devices[id]
}

// Trouble is why the hub's list was not taken the last time, or nil.
func (k *Keeper) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spurned.why
}

// Follow brings the list of that number, unless the machine has it or a newer
// one. What does not carry the hub's signature, or is older than what the
// machine has, is not taken, and not asked for again under that number: the list
// that is there stays, and Trouble says why. The error is of asking, or of the
// disk.
func (k *Keeper) Follow(ctx context.Context, hub Hub, number int64) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !k.wants(hub.ID, number) {
		return nil
	}
	a, err := hub.Roster(ctx)
	if err != nil {
		return fmt.Errorf("bring the list of members: %w", err)
	}
	r, err := k.read(hub, a)
	if err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.spurned = spurned{hub.ID, number, fmt.Errorf("the hub's list of members, number %d, is not taken: %w", number, err)}
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
	k.spurned = spurned{}
	return nil
}

// read is the list in an answer, if it is to be taken.
func (k *Keeper) read(hub Hub, a hubwire.RosterAnswer) (roster.Roster, error) {
	if hubwire.Fingerprint(a.Key) != hub.Fingerprint {
		return roster.Roster{}, errors.New("it comes with another key than the hub's")
	}
	r, err := roster.Decode(a.Roster, hub.ID, a.Key)
	if err == nil && !k.wants(hub.ID, r.Number) {
		err = errors.New("it is older than the one that is here")
	}
	return r, err
}

// wants says whether a list of that number is new.
func (k *Keeper) wants(hub event.ID, number int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.spurned.hub == hub && k.spurned.number == number {
		return false
	}
	return k.hub != hub || number > k.number
}
