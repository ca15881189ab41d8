package versions

import (
	"crypto/ed25519"
	"fmt"
	"slices"

	"cairn/internal/event"
)

// An Anchor is what a chain hangs on: which hub it is of, and that hub's key.
type Anchor struct {
	Hub event.ID
	Key ed25519.PublicKey
}

// Read is the versions in raw, which come after last, nil at the beginning of
// the chain. Whoever asks for a chain in parts reads each part before asking
// for the next, so that what repeats itself ends. The error is a *ChainError
// about the first that does not follow or cannot be read.
func (a Anchor) Read(last *Version, raw [][]byte) ([]Version, error) {
	number := First
	if last != nil {
		number = last.Number + 1
	}
	var next []Version
	for i, b := range raw {
		v, err := Decode(b)
		if err != nil {
			return nil, &ChainError{Number: number + i, Reason: "it cannot be read"}
		}
		next = append(next, v)
	}
	return next, a.Follow(last, next)
}

// Follow checks that next, in this order, come after last, which is nil at the
// beginning of the chain. The error is a *ChainError about the first that does
// not.
func (a Anchor) Follow(last *Version, next []Version) error {
	for i := range next {
		if err := a.Check(last, next[i]); err != nil {
			return err
		}
		last = &next[i]
	}
	return nil
}

// Check checks that the sealed version v may come after last, nil for none.
// The error is a *ChainError.
func (a Anchor) Check(last *Version, v Version) error {
	if err := a.Place(last, v); err != nil {
		return err
	}
	if len(v.Seal) != ed25519.SignatureSize || !ed25519.Verify(a.Key, v.sealText(), v.Seal) {
		return &ChainError{Number: v.Number, Reason: "the hub's seal is missing or does not fit"}
	}
	missing, err := a.Missing(last, v)
	if err == nil && missing > 0 {
		err = &ChainError{Number: v.Number, Reason: fmt.Sprintf("it needs %d more approvals by admins of the version before it", missing)}
	}
	return err
}

// Place checks that v, sealed or not, stands right after last, nil for none;
// not who has signed it. The error is a *ChainError.
func (a Anchor) Place(last *Version, v Version) error {
	if reason := a.misplaced(last, v); reason != "" {
		return &ChainError{Number: v.Number, Reason: reason}
	}
	return nil
}

func (a Anchor) misplaced(last *Version, v Version) string {
	switch {
	case !v.valid():
		return "it has no proper form"
	case v.Hub != a.Hub:
		return "it is another hub's"
	case last == nil && v.Number != First:
		return fmt.Sprintf("the chain begins with number %d", First)
	case last != nil && v.Number != last.Number+1:
		return fmt.Sprintf("number %d comes after number %d", last.Number+1, last.Number)
	case last != nil && !v.InForce.IsZero() && v.InForce.Before(last.InForce.Time):
		return fmt.Sprintf("it says that it came into force before version %d did", last.Number)
	case last != nil && v.Previous != last.Hash():
		return fmt.Sprintf("it does not follow the version %d that is known here", last.Number)
	}
	return ""
}

// Missing is how many approvals v, sealed or not, still needs. The first
// version needs one: the operator's, or that of an admin of the hub, for which
// the hub's seal vouches. Every later one needs as many as last says, each by
// another admin of last, or the operator. The error is a *ChainError if any of
// the approvals is not good: a version is taken with all of them or not at
// all.
func (a Anchor) Missing(last *Version, v Version) (int, error) {
	bad := func(reason string) (int, error) { return 0, &ChainError{Number: v.Number, Reason: reason} }
	need := 1
	if last != nil {
		need = last.Approvals
	}
	for i, by := range v.Approved {
		switch {
		case !by.Verify(v.Proposal):
			return bad("a signature of it does not fit")
		case (by.Person == Operator) != by.Key.Equal(a.Key):
			return bad("the hub's key signs for the operator, and for nobody else")
		case by.Person != Operator && last != nil && !slices.Contains(last.Admins, by.Person):
			return bad("it is signed by somebody who is no admin of the version before it")
		case slices.ContainsFunc(v.Approved[:i], by.sameAs):
			return bad("somebody has signed it twice")
		}
	}
	return max(need-len(v.Approved), 0), nil
}

// sameAs says whether both come from one person, or with one key.
func (a Approval) sameAs(b Approval) bool { return a.Person == b.Person || a.Key.Equal(b.Key) }
