package replica

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/intake"
)

// ErrOffline means that the other side could not be reached or the connection
// broke. Everything is kept; try again later.
var ErrOffline = errors.New("the remote is out of reach")

// ErrRaced means that the remote moved while we pushed. Pull, then push again.
var ErrRaced = errors.New("the remote has moved meanwhile")

// A RefusedError is the other side's no to the whole request: an unknown or
// revoked device, no right to the space, a push it does not take. Nothing is
// lost; somebody must act before trying again helps.
type RefusedError struct {
	Message string // what the other side said, one line or several
}

func (e *RefusedError) Error() string { return "the remote refused: " + e.Message }

// A ClonedError reports that the hub knows of a later push with this device's
// key: another copy of the machine goes on with it, or the machine was restored
// from a backup. Nothing was taken. Get a key of its own with Hub.Renew, pull,
// then push again.
type ClonedError struct {
	Device  event.DeviceID
	Message string // what the hub said, for people
}

func (e *ClonedError) Error() string { return "the hub refused: " + e.Message }

// A HostKeyError reports a hub that does not have the key it was enrolled
// with. Nothing was sent. Ask the hub's admin; if the key was changed on
// purpose, join again with a new invite.
type HostKeyError struct{ Address, Have, Want string }

func (e *HostKeyError) Error() string {
	return fmt.Sprintf("the hub at %s has host key %s, expected %s: nothing was sent; ask its admin", e.Address, e.Have, e.Want)
}

// RuleStranger is the rule by which Options.Admit says that an event is none of
// a member's of the hub that the space belongs to.
const RuleStranger = "stranger"

// A StrangerError reports a remote that has events which no member wrote.
// Nothing was taken from there. If somebody has joined the hub just now, the
// next exchange with the hub settles it.
type StrangerError struct{ Events []event.ID }

func (e *StrangerError) Error() string {
	return fmt.Sprintf("%d events there were written on machines that are no member's of this space's hub (%s, …): nothing was taken", len(e.Events), e.Events[0])
}

// A TamperedError reports a remote whose history does not have the form that
// cairn gives it. Nothing of it was taken. Stop syncing this space with it.
type TamperedError struct{ Findings []intake.Finding }

func (e *TamperedError) Error() string {
	f := e.Findings[0]
	return fmt.Sprintf("the remote's history is not what cairn writes (%d findings, the first is rule %s in commit %s): nothing of it was taken", len(e.Findings), f.Rule, short(f.Commit))
}

// A RewrittenError reports a remote whose history does not hold the commit
// that it had before. Nothing was taken or sent. Find out who rewrote it.
type RewrittenError struct{ Had, Has plumbing.Hash }

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("the remote's history was rewritten: it had commit %s and now ends at %s without it; nothing was taken or sent", short(e.Had), short(e.Has))
}

// A PurgedError reports a remote that still has events which were purged from
// the space. Nothing was taken or sent. Reset its branch to this machine's, or
// remove the remote.
type PurgedError struct{ Events []event.ID }

func (e *PurgedError) Error() string {
	return fmt.Sprintf("the remote still has events that were purged from this space (%d, the first is %s): nothing was taken or sent", len(e.Events), e.Events[0])
}

// errMoved says that another process has followed a purge meanwhile.
var errMoved = fmt.Errorf("%w: events were purged from this space", ErrRaced)

func short(h plumbing.Hash) string { return h.String()[:10] }

// IsOffline says whether trying again later is all there is to do.
func IsOffline(err error) bool { return errors.Is(err, ErrOffline) }

func offline(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, ErrOffline, err)
}
