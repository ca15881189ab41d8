package hubstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// A Hub is a hub as the machine knows it from its invite.
type Hub struct {
	ID          event.ID
	Fingerprint string // of its host key
}

// Check is ErrKey unless key is the hub's.
func (h Hub) Check(key []byte) error {
	if hubwire.Fingerprint(key) != h.Fingerprint {
		return ErrKey
	}
	return nil
}

// A Keeper keeps a T, whose JSON is the file. M is the mark by which the hub
// says which one it has. It is safe for concurrent use.
type Keeper[T any, M comparable] struct {
	fs    disk.FS
	path  string
	state atomic.Pointer[state[T]]

	turn    chan struct{} // who follows the hub has it, and what is below
	refused *claim[M]     // what was turned down last; nil for nothing
}

// A state is what is kept at one moment, nil for nothing, and what is wrong.
type state[T any] struct {
	kept    *T
	trouble error
}

// A claim is what a hub says it has.
type claim[M comparable] struct {
	hub  Hub
	mark M
}

// Open reads what is kept in the file at path, if anything is. complete checks
// what was read, and adds what the file does not hold. If it cannot be read that
// is trouble, a *DamagedError, and meanwhile tells people what counts then.
func Open[T any, M comparable](fsys disk.FS, path, meanwhile string, complete func(*T) error) *Keeper[T, M] {
	k := &Keeper[T, M]{fs: fsys, path: path, turn: make(chan struct{}, 1)}
	kept, err := load(fsys, path, complete)
	if err != nil {
		err = &DamagedError{Path: path, Meanwhile: meanwhile, Err: err}
	}
	k.state.Store(&state[T]{kept, err})
	return k
}

// load is what the file holds; nil for no file.
func load[T any](fsys disk.FS, path string, complete func(*T) error) (*T, error) {
	b, err := disk.ReadFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept := new(T)
	if err := json.Unmarshal(b, kept); err != nil {
		return nil, err
	}
	if err := complete(kept); err != nil {
		return nil, err
	}
	return kept, nil
}

// Now is what is kept at this moment, nil for nothing, and what is wrong: a
// *DamagedError, or why what the hub shows is not taken. Do not change it.
func (k *Keeper[T, M]) Now() (kept *T, trouble error) {
	s := k.state.Load()
	return s.kept, s.trouble
}

// Follow makes sure of what the hub shows. bring says what is to be kept from
// now on instead of what is, nil to go on with that; a *RefusedError becomes
// trouble, and is no error of Follow's. Any other error of bring's, or one of the
// disk, is: try again. bring is not called for what it has refused last.
func (k *Keeper[T, M]) Follow(ctx context.Context, hub Hub, shown M, bring func(kept *T) (next *T, err error)) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	now := claim[M]{hub, shown}
	if k.refused != nil && *k.refused == now {
		return nil
	}
	kept, _ := k.Now()
	next, err := bring(kept)
	if no, ok := errors.AsType[*RefusedError](err); ok {
		k.refuse(now, no)
		return nil
	}
	if err != nil {
		return err
	}
	return k.take(kept, next)
}

// refuse stays with what is kept. Called with the turn.
func (k *Keeper[T, M]) refuse(what claim[M], no *RefusedError) {
	if k.refused = &what; no.Again {
		k.refused = nil
	}
	kept, _ := k.Now()
	k.state.Store(&state[T]{kept, no.Why})
}

// take puts next in the place of kept, unless it is nil. Called with the turn.
func (k *Keeper[T, M]) take(kept, next *T) error {
	if next == nil {
		next = kept
	} else if err := atomicfile.WriteJSON(k.fs, k.path, next, "", 0o600); err != nil {
		return fmt.Errorf("keep what the hub has: %w", err)
	}
	k.refused = nil
	k.state.Store(&state[T]{next, nil})
	return nil
}
