package teampolicy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/agent/hubstate"
	"cairn/internal/disk"
	"cairn/internal/hubwire"
	"cairn/policy"
	"cairn/policy/versions"
)

// A Keeper keeps the policy of one home. It is safe for concurrent use.
type Keeper struct {
	last    *hubstate.Keeper[kept, hubwire.PolicyMark]
	now     func() time.Time
	builtIn *policy.Policy
	past    *library
}

// A Hub is the hub as the machine knows it, and how to ask it for the versions
// after a number.
type Hub struct {
	hubstate.Hub
	Since func(ctx context.Context, number int) (hubwire.PolicyAnswer, error)
	// File is the policy file of an earlier version.
	File func(ctx context.Context, number int) ([]byte, error)
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
// cannot be read is trouble, a *hubstate.DamagedError, and no error.
func Open(fsys disk.FS, path string, now func() time.Time) *Keeper {
	k := &Keeper{now: now, builtIn: policy.Default(), past: newLibrary(now)}
	k.last = hubstate.Open[kept, hubwire.PolicyMark](fsys, path, "the built-in rules are in force", k.complete)
	return k
}

// Policy is what to judge by at this moment.
func (k *Keeper) Policy() *policy.Policy {
	if have, _ := k.last.Now(); have != nil {
		return have.policy
	}
	return k.builtIn
}

// BuiltIn is what to judge by in spaces that no team has a say in.
func (k *Keeper) BuiltIn() *policy.Policy { return k.builtIn }

// Hindsight is what to judge by what a history holds already.
func (k *Keeper) Hindsight() *policy.Hindsight {
	if have, _ := k.last.Now(); have != nil {
		return have.hindsight
	}
	return k.builtIn.Hindsight(time.Time{}, nil, true)
}

// State is what is in force at this moment.
func (k *Keeper) State() State {
	have, trouble := k.last.Now()
	s := State{Number: k.builtIn.Number(), Trouble: trouble}
	if have != nil {
		v := have.version
		s.Number, s.File, s.Team = v.Number, v.Proposal.File, v.Team
	}
	return s
}

// Version is the version in force with its file; false for the built-in rules.
func (k *Keeper) Version() (v versions.Version, file []byte, ok bool) {
	have, _ := k.last.Now()
	if have == nil {
		return versions.Version{}, nil, false
	}
	return have.version, have.File, true
}

// Prints is the team's key for fingerprints; nil without a team's policy.
func (k *Keeper) Prints() []byte {
	have, _ := k.last.Now()
	if have == nil {
		return nil
	}
	return have.Prints
}

// Follow makes sure that what the hub says is in force is so here, or notes why
// not, and does not ask again for what it did not take, until the hub shows
// something else. The error is of asking, or of the disk: try again.
func (k *Keeper) Follow(ctx context.Context, hub Hub, shown hubwire.PolicyMark) error {
	return k.last.Follow(ctx, hub.Hub, shown, func(have *kept) (*kept, error) {
		have = have.of(hub.ID)
		switch {
		case have.mark() == shown && have.isWhole():
			return nil, nil
		case have.mark() == shown:
			return k.bring(ctx, hub, have)
		case have.follows(shown):
			return nil, have.giveBack(ctx, hub, shown)
		case shown.Number <= have.mark().Number:
			return nil, have.backwards(shown)
		}
		return k.bring(ctx, hub, have)
	})
}

// bring is the hub's newest version, if every link from have to it holds and it
// is understood here: an older version is better than none.
func (k *Keeper) bring(ctx context.Context, hub Hub, have *kept) (*kept, error) {
	next, err := fetch(ctx, hub, have)
	if _, bad := errors.AsType[*versions.ChainError](err); bad {
		return nil, &hubstate.RefusedError{Why: err}
	}
	if err != nil {
		return nil, fmt.Errorf("bring the team's policy: %w", err)
	}
	if err := k.compile(next); err != nil {
		return nil, &hubstate.RefusedError{Why: err}
	}
	return next, nil
}

// compile makes what a version says ready to judge by. It checks that the
// version says of its file what the file does.
func (k *Keeper) compile(next *kept) (err error) {
	number := next.version.Number
	if next.policy, err = policy.Read(number, next.File, next.Prints, k.now); err != nil {
		return fmt.Errorf("policy version %d is not understood here, upgrade cairn: %w", number, err)
	}
	if f := next.policy.Rules().File(); !next.version.Describes(next.File, f.Team, f.Admins, f.Approvals) {
		return &versions.ChainError{Number: number, Reason: "it says of its file what the file does not say"}
	}
	next.hindsight = next.policy.Hindsight(next.version.Began(), k.before(next), next.isWhole())
	return nil
}
