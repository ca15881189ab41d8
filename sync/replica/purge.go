package replica

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/purge"
)

// A purger is a remote whose purges the log follows.
type purger interface {
	// Signs says whether a key is the one that signs the record of purges.
	Signs(ed25519.PublicKey) bool
}

// readRecords finds out what was purged from the space: what the log knows, and
// what an arrival adds to it. Whatever does not come from the hub, or does not
// go on from what was known, is not followed. What was purged may still be on
// the disk, so a history that is stored already is looked at too.
func (r *Replica) readRecords(a *arrival) (err error) {
	var in gitstore.Reader = r.opt.Log.Store()
	if a.q != nil {
		in = a.q
	}
	if !a.purges() {
		if a.gone, err = r.opt.Log.Purged(); err != nil {
			return err
		}
		return mustBeRid(in, a)
	}
	if a.epoch.IsZero() {
		return &RewrittenError{Had: a.known, Has: a.head}
	}
	space, err := r.spaceOf(in, a.head)
	if err != nil {
		return err
	}
	if a.records, err = purge.Records(in, space.ID, a.epoch); err != nil {
		return err
	}
	last := a.records[len(a.records)-1] // a chain has one key, and it was checked for each that it signed it
	if !r.purger.Signs(last.Key) {
		return &purge.RecordError{Commit: last.Commit, Reason: "it is not signed by the hub that this machine has joined"}
	}
	isKnown := func(rec purge.Record) bool { return rec.Commit == a.known }
	if !a.known.IsZero() && !slices.ContainsFunc(a.records, isKnown) {
		return &RewrittenError{Had: a.known, Has: a.epoch}
	}
	a.gone = purge.NewSet(a.records)
	return mustBeRid(in, a)
}

// mustBeRid makes sure that the history that is to be followed has nothing of
// what was purged.
func mustBeRid(in gitstore.Reader, a *arrival) error {
	held, err := a.gone.InCommit(in, a.head)
	if err == nil && len(held) > 0 {
		err = &PurgedError{Events: held}
	}
	return err
}

// objectsOf are the objects of records.
func objectsOf(records []purge.Record) map[plumbing.Hash]bool {
	all := map[plumbing.Hash]bool{}
	for _, rec := range records {
		all[rec.Commit], all[rec.Tree], all[rec.Blob] = true, true, true
	}
	return all
}

// follow puts the log on the history that a purge has left: its own events that
// the remote lacks go on top of it with the same bytes, and what was purged
// leaves the disk. The branch moves from the one to the other in one step, so
// an event of the log's own is in its history at every moment. The epoch comes
// after everything that depends on it: what breaks off before is done again,
// what breaks off after is finished by Expunge.
func (r *Replica) follow(ctx context.Context, a *arrival) (eventlog.Head, error) {
	log := r.opt.Log
	before, err := log.Head()
	if err != nil {
		return eventlog.Head{}, err
	}
	if err := r.note(a.gone); err != nil {
		return eventlog.Head{}, err
	}
	if _, err := r.adopt(ctx, a.head, a.keep); err != nil {
		return eventlog.Head{}, err
	}
	if r.opt.Purged != nil { // not before: what is withheld must not show while the log has it
		if err := r.opt.Purged(ctx, a.gone); err != nil {
			return eventlog.Head{}, fmt.Errorf("forget purged events: %w", err)
		}
	}
	if a.fresh, err = r.count(ctx, before); err != nil {
		return eventlog.Head{}, err
	}
	if err := r.track(a.head); err != nil {
		return eventlog.Head{}, err
	}
	if err := log.Store().UpdateRef(eventlog.EpochRef, a.known, a.epoch); err != nil {
		return eventlog.Head{}, err
	}
	if _, err := log.ExpungeInTurn(ctx); err != nil {
		return eventlog.Head{}, err
	}
	if err := r.begin(); err != nil { // the graph is another one now
		return eventlog.Head{}, err
	}
	return log.Head()
}

// count is how many events the log has that it had not before.
func (r *Replica) count(ctx context.Context, before eventlog.Head) (int, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return 0, err
	}
	fresh, err := r.opt.Log.AddedIDs(ctx, before.Tree, head.Tree)
	return len(fresh), err
}

// note leaves word that objects are to be removed, if the log has any of what
// was purged.
func (r *Replica) note(gone *purge.Set) error {
	store := r.opt.Log.Store()
	stored, err := gone.Stored(store.Has)
	if err != nil || len(stored) == 0 {
		return err
	}
	return store.SetPending()
}

// keep is where an event of the log's goes when a purge is followed.
func (a *arrival) keep(s eventlog.Stored) place {
	if a.gone.Has(s.ID) {
		return leftOut
	}
	return inOrder
}
