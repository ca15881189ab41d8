package replica

import (
	"context"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/hubwire"
)

// A Remote is the other copy of a space. Errors: ErrOffline, *RefusedError,
// *HostKeyError, and what the functions passed in return.
type Remote interface {
	// Fetch asks for the remote's head and, unless the machine has it, for
	// the objects that lead to it. The head is zero for an empty remote.
	Fetch(context.Context, Want) (plumbing.Hash, error)
	// Push offers a history to the remote, portion by portion: what was taken
	// before an error stays taken. Errors besides: ErrRaced, and *DeclinedError
	// for events that the remote named.
	Push(context.Context, Offer) (Pushed, error)
}

// Want is what a machine has and how it takes what is new.
type Want struct {
	Met   bool // the remote had a history before
	Has   func(plumbing.Hash) (bool, error)
	Haves []plumbing.Hash
	// Epoch is told what the remote's record of purges ends with, before
	// anything is asked for; zero for none. It says whether to bring that too.
	// Nil for a machine that follows no purge.
	Epoch   func(plumbing.Hash) (bool, error)
	Receive func(ctx context.Context, pack io.Reader) error // called at most once
	// Told is told what a hub says of itself, before anything is asked for; nil
	// for nobody who wants to know.
	Told func(context.Context, hubwire.Told) error
}

// Offer is a history to be pushed.
type Offer struct {
	Tip plumbing.Hash
	Met bool // as in Want
	// Follows says whether the tip's history holds a commit.
	Follows func(plumbing.Hash) (bool, error)
	// Epoch is the end of the record of purges as the machine knows it: a hub
	// that is at another one is not pushed to.
	Epoch plumbing.Hash
	// Known is a commit that the remote is known to have, or zero.
	Known plumbing.Hash
	// Next is the next portion of it.
	Next func(context.Context, Taker) (Portion, error)
	// Claim returns what to tell a remote that remembers what each device pushed
	// last, when tip is about to be pushed and the remote says what it has on
	// record; nil if there is nothing to tell. An error ends the push before
	// anything is sent.
	Claim func(tip, last plumbing.Hash) ([]plumbing.Hash, error)
	// Told is as in Want.
	Told func(context.Context, hubwire.Told) error
}

// Pushed is what became of an offer.
type Pushed struct {
	// Joined says that the remote joined the tip with newer events of others:
	// its head is another commit, which the next pull brings.
	Joined bool
}

// A DeclinedError is a push that the remote refused because of events it
// named. Nothing of the portion was taken.
type DeclinedError struct {
	Refusals []hubwire.Refusal
	Message  string // what the remote said, for people
}

func (e *DeclinedError) Error() string { return "the remote refused the push: " + e.Message }
