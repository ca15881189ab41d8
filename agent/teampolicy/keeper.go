package teampolicy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/policy"
	"cairn/policy/versions"
)

// A Keeper keeps the policy of one home. It is safe for concurrent use.
type Keeper struct {
	fs   disk.FS
	path string
	now  func() time.Time

	builtIn *policy.Policy
	current atomic.Pointer[policy.Policy]
	turn    chan struct{} // who asks the hub has it

	mu      sync.Mutex // guards the two below
	kept    *kept      // nil while there is none
	trouble error      // what the hub showed last that was not taken
}

// A Hub is the hub as the machine knows it from its invite, and how to ask it
// for the versions after a number.
type Hub struct {
	ID          event.ID
	Fingerprint string
	Since       func(ctx context.Context, number int) (hubwire.PolicyAnswer, error)
	// Return gives a version back that the hub has lost.
	Return func(ctx context.Context, version, file []byte) error
}

// A State is what is in force.
type State struct {
	Number  int           // 1 for the built-in rules
	File    versions.Hash // zero for the built-in rules
	Team    string
	Trouble error // why what the hub shows is not taken; nil if all is well
}

// Open reads what is kept in the file at path, if anything is. A file that
// cannot be read is trouble and no error.
func Open(fsys disk.FS, path string, now func() time.Time) *Keeper {
	k := &Keeper{fs: fsys, path: path, now: now, builtIn: policy.Default(), turn: make(chan struct{}, 1)}
	k.current.Store(k.builtIn)
	kept, err := load(fsys, path)
	if err == nil && kept != nil {
		err = k.use(kept)
	}
	if err != nil {
		k.trouble = &DamagedError{Path: path, Err: err}
	}
	return k
}

// Policy is what to judge by at this moment.
func (k *Keeper) Policy() *policy.Policy { return k.current.Load() }

// BuiltIn is what to judge by in spaces that no team has a say in.
func (k *Keeper) BuiltIn() *policy.Policy { return k.builtIn }

// State is what is in force at this moment.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := State{Number: k.builtIn.Number(), Trouble: k.trouble}
	if k.kept != nil {
		v := k.kept.version
		s.Number, s.File, s.Team = v.Number, v.Proposal.File, v.Team
	}
	return s
}

// Version is the version in force with its file; false for the built-in rules.
func (k *Keeper) Version() (v versions.Version, file []byte, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return versions.Version{}, nil, false
	}
	return k.kept.version, k.kept.File, true
}

// Prints is the team's key for fingerprints; nil without a team's policy.
func (k *Keeper) Prints() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return nil
	}
	return k.kept.Prints
}

// use makes what is kept the policy in force. Called with mu held, or before
// others know the Keeper.
func (k *Keeper) use(next *kept) error {
	p, err := policy.Read(next.version.Number, next.File, next.Prints, k.now)
	if err != nil {
		return err
	}
	k.kept = next
	k.current.Store(p)
	return nil
}

// Follow makes sure that what the hub says is in force is so here, or notes why
// not. The error is of asking, or of the disk: try again.
func (k *Keeper) Follow(ctx context.Context, hub Hub, shown hubwire.PolicyMark) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	have := k.have(hub)
	if have.mark() == shown {
		k.note(nil)
		return nil
	}
	if have.follows(shown) {
		// It was restored from a backup made just before. Whatever it says to
		// that, the next exchange shows what it has then.
		err := hub.Return(ctx, have.Version, have.File)
		if err == nil {
			k.note(nil)
			return nil
		}
	}
	if shown.Number <= have.mark().Number {
		k.note(&BackwardsError{Have: have.mark().Number, Shown: shown.Number})
		return nil
	}
	next, err := fetch(ctx, hub, have)
	if _, refused := errors.AsType[*versions.ChainError](err); refused {
		k.note(err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("bring the team's policy: %w", err)
	}
	return k.take(next)
}

// have is what is kept of this hub, nil for nothing.
func (k *Keeper) have(hub Hub) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil || k.kept.version.Hub != hub.ID {
		return nil
	}
	return k.kept
}

// note remembers what is wrong, nil for nothing.
func (k *Keeper) note(trouble error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trouble = trouble
}

// take puts a version into force: first on disk, so that no restart goes back.
func (k *Keeper) take(next *kept) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	// What this program does not understand is not kept: an upgrade takes it.
	p, err := policy.Read(next.version.Number, next.File, next.Prints, k.now)
	if err != nil {
		k.trouble = fmt.Errorf("policy version %d is not understood here, upgrade cairn: %w", next.version.Number, err)
		return nil
	}
	if f := p.Rules().File(); !next.version.Describes(next.File, f.Team, f.Admins, f.Approvals) {
		k.trouble = &versions.ChainError{Number: next.version.Number, Reason: "it says of its file what the file does not say"}
		return nil
	}
	if err := next.save(k.fs, k.path); err != nil {
		return fmt.Errorf("keep the team's policy: %w", err)
	}
	k.trouble = nil
	return k.use(next)
}
