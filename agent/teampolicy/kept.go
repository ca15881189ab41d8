package teampolicy

import (
	"context"
	"errors"
	"slices"

	"cairn/agent/hubstate"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/problem"
	"cairn/policy"
	"cairn/policy/versions"
)

// kept is the file: the newest version with what it says.
type kept struct {
	Version []byte        `json:"version"`
	File    []byte        `json:"file"`
	Prints  []byte        `json:"prints,omitempty"` // the team's key for fingerprints
	Sum     versions.Hash `json:"sum,omitzero"`     // of the three; older programs wrote none

	version versions.Version
	policy  *policy.Policy
}

func newKept(v versions.Version, file, prints []byte) *kept {
	k := &kept{Version: versions.Encode(v), File: file, Prints: prints, version: v}
	k.Sum = k.sum()
	return k
}

func (k *kept) sum() versions.Hash {
	return versions.HashOf(slices.Concat(k.Version, k.File, k.Prints))
}

// complete checks what was read from the file, and makes the rest of it.
func (k *Keeper) complete(read *kept) (err error) {
	if !read.Sum.IsZero() && read.Sum != read.sum() {
		return errNotWhole
	}
	if read.version, err = versions.Decode(read.Version); err != nil {
		return err
	}
	if versions.HashOf(read.File) != read.version.Proposal.File {
		return errNotWhole
	}
	return k.compile(read)
}

// of is what is kept of a hub, nil for nothing.
func (k *kept) of(hub event.ID) *kept {
	if k == nil || k.version.Hub != hub {
		return nil
	}
	return k
}

// mark is the version's mark; that of the built-in rules for nothing kept.
func (k *kept) mark() hubwire.PolicyMark {
	if k == nil {
		return hubwire.BuiltIn
	}
	return hubwire.PolicyMark{Number: k.version.Number, Hash: k.version.Hash().String()}
}

// follows says whether the version comes right after that of the mark.
func (k *kept) follows(m hubwire.PolicyMark) bool {
	if k == nil || k.version.Number != m.Number+1 {
		return false
	}
	return k.version.Number == versions.First || k.version.Previous.String() == m.Hash
}

// backwards refuses what a hub shows that is not newer.
func (k *kept) backwards(shown hubwire.PolicyMark) *hubstate.RefusedError {
	return &hubstate.RefusedError{Why: &BackwardsError{Have: k.mark().Number, Shown: shown.Number}}
}

// giveBack gives the version back to a hub that has lost just this one, since it
// was restored from a backup made just before. If the hub does not take it, what
// it shows is older than what is here.
func (k *kept) giveBack(ctx context.Context, hub Hub, shown hubwire.PolicyMark) error {
	err := hub.Return(ctx, k.Version, k.File)
	if err == nil {
		return nil
	}
	no := k.backwards(shown)
	no.Again = !isFinal(err)
	return no
}

// isFinal says whether the hub itself will say the same again: it neither broke
// down nor was it busy or out of reach.
func isFinal(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code != problem.Failed && p.Code != problem.Busy && p.Code != problem.Offline
}

// last is the version, nil for none.
func (k *kept) last() *versions.Version {
	if k == nil {
		return nil
	}
	return &k.version
}

// fetch follows the hub's chain from what is kept to its end. The error is a
// *versions.ChainError if a link does not hold.
func fetch(ctx context.Context, hub Hub, have *kept) (*kept, error) {
	last := have.last()
	for {
		a, err := hub.Since(ctx, numberOf(last))
		if err != nil {
			return nil, err
		}
		chain, err := follow(hub, last, a)
		if err != nil {
			return nil, err
		}
		last = &chain[len(chain)-1]
		if len(a.File) == 0 { // there is more to come
			continue
		}
		if versions.HashOf(a.File) != last.File {
			return nil, &versions.ChainError{Number: last.Number, Reason: "the file that came with it is another one"}
		}
		return newKept(*last, a.File, a.Prints), nil
	}
}

func numberOf(last *versions.Version) int {
	if last == nil {
		return versions.First - 1
	}
	return last.Number
}

// follow reads an answer, which must lead on from last by at least one link.
func follow(hub Hub, last *versions.Version, a hubwire.PolicyAnswer) ([]versions.Version, error) {
	if err := hub.Check(a.Key); err != nil {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: err.Error()}
	}
	if len(a.Versions) == 0 {
		return nil, &versions.ChainError{Number: a.Newest.Number, Reason: "the hub does not show what leads to it"}
	}
	return versions.Anchor{Hub: hub.ID, Key: a.Key}.Read(last, a.Versions)
}
