package repository

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
	"cairn/sync/gittree"
	"cairn/sync/purge"
)

// A PurgeOrder is what to purge, and who says so.
type PurgeOrder struct {
	// Events are ids, or unique starts or ends of some.
	Events []string
	By     event.DeviceID // of the admin; empty for whoever sits at the hub
	Now    time.Time
	Key    ed25519.PublicKey // the hub's
	Sign   func([]byte) []byte
}

// A Purged is what a purge did.
type Purged struct {
	Epoch   int        // that it began; the present one if there was nothing to do
	Events  []event.ID // that are gone
	Already []event.ID // that had been purged before
	Head    plumbing.Hash
	// Undone is why the old objects are still on the disk; nil if they are not.
	Undone error
}

// Purge takes events out of the space: out of the history, and off the disk of
// the hub. Sessions go on while the history is made again. When the branch moves,
// fetches under way end and pushes that were checked before are sent back, each
// told to come again; those of another process when it next calls Look. Errors: *problem.Problem about what was asked for. After an error the
// history is as it was if done has no Events; otherwise they may be on record as
// purged, and then whoever next looks at the repository finishes it.
func (r *Repository) Purge(ctx context.Context, o PurgeOrder) (done Purged, err error) {
	turn, err := r.log.Store().LockPending(ctx)
	if err != nil {
		return Purged{}, asProblem(err)
	}
	done, err = r.purge(ctx, o)
	if err = errors.Join(err, turn.Unlock()); err != nil {
		return done, done.asProblem(err)
	}
	if err := r.Look(ctx); err != nil {
		// What was asked for is done; a serving hub looks again by itself.
		r.set.log.Warn("look at what was purged", "space", r.Space().Name, "err", err)
	}
	return done, nil
}

// asProblem words why a purge ended early.
func (p Purged) asProblem(err error) error {
	if len(p.Events) == 0 {
		return asProblem(err)
	}
	return &problem.Problem{
		Code:    problem.Busy,
		Message: fmt.Sprintf("the purge has begun and could not be finished: %v", err),
		Hint:    "the hub goes on with it by itself; purge the same events again to see whether they are gone",
		Err:     err,
	}
}

// purge runs while nobody else takes objects off the disk: until the branch
// moves, no ref leads to the history that is made again.
func (r *Repository) purge(ctx context.Context, o PurgeOrder) (Purged, error) {
	head, _, err := r.tips(ctx)
	if err != nil {
		return Purged{}, err
	}
	done, ids, err := r.choose(head, o.Events)
	if err != nil {
		return Purged{}, err
	}
	if len(ids) > 0 {
		if err := r.rewrite(ctx, head, o, ids, &done); err != nil {
			return done, fmt.Errorf("purge: %w", err)
		}
	}
	_, done.Undone = r.log.ExpungeInTurn(ctx)
	return done, nil
}

// choose finds the events that are to go, and those that have gone before.
func (r *Repository) choose(head eventlog.Head, refs []string) (done Purged, ids []event.ID, err error) {
	records, err := r.log.Purges()
	if err != nil {
		return done, nil, err
	}
	gone := purge.NewSet(records)
	meant, err := r.resolve(head, gone, refs)
	if err != nil {
		return done, nil, err
	}
	done = Purged{Head: head.Commit, Epoch: len(records)}
	for _, id := range meant {
		if gone.Has(id) {
			done.Already = append(done.Already, id)
		} else {
			ids = append(ids, id)
		}
	}
	return done, ids, r.mayGo(head, ids)
}

// minRef is how many characters of an id must be given.
const minRef = 6

// means says whether ref is an id, or the start or end of it.
func means(ref string, id event.ID) bool {
	part := digits(ref)
	return len(part) >= minRef && (strings.HasPrefix(string(id), part) || strings.HasSuffix(string(id), part))
}

// digits are those of an id, or of a part of one, as somebody typed it.
func digits(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "~")) }

// resolve finds the ids that refs stand for.
func (r *Repository) resolve(head eventlog.Head, gone *purge.Set, refs []string) ([]event.ID, error) {
	found := make([][]event.ID, len(refs))
	match := func(id event.ID) {
		for i, ref := range refs {
			if means(ref, id) {
				found[i] = append(found[i], id)
			}
		}
	}
	err := gittree.Walk(r.log.Store(), head.Tree, func(path string, _ plumbing.Hash) error {
		if id, ok := commitform.IDAt(path); ok {
			match(id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id := range gone.All() {
		match(id)
	}
	var ids []event.ID
	for i := range refs {
		switch len(found[i]) {
		case 0:
			return nil, errNoEvent
		case 1:
			ids = append(ids, found[i][0])
		default:
			return nil, errSeveral
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

var (
	errNoEvent = &problem.Problem{Code: problem.NotFound, Message: "the space has no event of one of these ids: nothing was purged", Hint: `"cairn show ID" prints the whole id of an event`}
	errSeveral = &problem.Problem{Code: problem.Usage, Message: "several events of the space fit one of these ids: nothing was purged", Hint: `give the whole id, as "cairn show" prints it`}
	errShows   = &problem.Problem{Code: problem.Usage, Message: "one of these events redacts another, which would show again: nothing was purged", Hint: "purge the redacted event together with it"}
)

// mayGo refuses to purge a redaction and to leave what it hides.
func (r *Repository) mayGo(head eventlog.Head, ids []event.ID) error {
	for _, id := range ids {
		s, err := r.log.Event(head.Tree, id)
		if err != nil {
			return err
		}
		redact, ok := s.Event.Payload.(*event.Redact)
		if !ok || slices.Contains(ids, redact.Target) {
			continue
		}
		_, err = r.log.Event(head.Tree, redact.Target)
		if err == nil {
			return errShows
		}
		if !errors.Is(err, eventlog.ErrNotFound) {
			return err
		}
	}
	return nil
}

// rewrite makes the history without the events and moves the branch to it.
// What was pushed while a long history was made again is made again under the
// lock.
func (r *Repository) rewrite(ctx context.Context, seen eventlog.Head, o PurgeOrder, ids []event.ID, done *Purged) (err error) {
	w := purge.NewRewriter(r.log.Store(), ids)
	if _, err := w.Head(ctx, seen.Commit); err != nil {
		return err
	}
	lock, err := r.log.Store().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	head, err := r.log.Head()
	if err != nil {
		return err
	}
	to, err := w.Head(ctx, head.Commit)
	if err != nil {
		return err
	}
	record, previous, err := r.writeRecord(head, to, o, ids, done.Epoch+1)
	if err != nil {
		return err
	}
	if err := r.begin(previous, record, ids, done); err != nil {
		return err
	}
	done.Head = to
	return r.log.Store().UpdateRef(head.Ref, head.Commit, to)
}

// writeRecord stores the record of the purge, to which nothing leads yet.
func (r *Repository) writeRecord(head eventlog.Head, to plumbing.Hash, o PurgeOrder, ids []event.ID, epoch int) (record, previous plumbing.Hash, err error) {
	store := r.log.Store()
	if previous, err = r.log.EpochCommit(); err != nil {
		return record, previous, err
	}
	p := commitform.Purge{
		Space: r.Space().ID, Epoch: epoch, At: event.NewTime(o.Now), By: o.By,
		From: commitform.Hash(head.Commit), To: commitform.Hash(to),
	}
	for _, id := range ids {
		file, err := gittree.Lookup(store, head.Tree, commitform.Path(id))
		if err != nil {
			return record, previous, err
		}
		p.Events = append(p.Events, commitform.Purged{ID: id, Blob: commitform.Hash(file.Hash)})
	}
	record, objects, err := purge.Write(p.Sign(o.Key, o.Sign), previous)
	if err != nil {
		return record, previous, err
	}
	_, err = store.WritePack(objects)
	return record, previous, err
}

// begin makes the record that of the epoch. Once it is there the purge has
// happened: whoever opens the repository next finishes it. After an error it
// may be there all the same.
func (r *Repository) begin(previous, record plumbing.Hash, ids []event.ID, done *Purged) error {
	store := r.log.Store()
	if err := store.SetPending(); err != nil {
		return err
	}
	err := store.UpdateRef(eventlog.EpochRef, previous, record)
	if err != nil {
		if now, lerr := r.log.EpochCommit(); lerr == nil && now == previous {
			return err
		}
	}
	done.Epoch++
	done.Events = ids
	return err
}
