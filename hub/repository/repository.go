package repository

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gittree"
	"cairn/sync/gitwire"
	"cairn/sync/history"
)

// A Repository is one open space, shared by all sessions. It is safe for
// concurrent use, also beside other programs on the same repository.
type Repository struct {
	set    *Set
	log    *eventlog.Log
	leases *leases
	tidy   *tidier
	count  *count
	queue  *queue
	epochs *epochs
}

func newRepository(s *Set, log *eventlog.Log, dir string, epoch plumbing.Hash) *Repository {
	r := &Repository{
		set: s, log: log, count: newCount(), queue: newQueue(), epochs: newEpochs(epoch),
		leases: &leases{fs: s.fs, path: s.leasePath(dir), log: s.log},
	}
	r.tidy = newTidier(r)
	return r
}

// Space is the identity of the repository.
func (r *Repository) Space() commitform.Space { return r.log.Space() }

// Refs are the refs that the hub shows, at this moment: the branch, and the
// mark of the epoch if the history was ever rewritten.
func (r *Repository) Refs(ctx context.Context) (map[string]plumbing.Hash, error) {
	head, epoch, err := r.tips(ctx)
	if err != nil {
		return nil, asProblem(err)
	}
	refs := map[string]plumbing.Hash{head.Ref: head.Commit}
	if !epoch.IsZero() {
		refs[eventlog.EpochRef] = epoch
	}
	return refs, nil
}

// Count is the head of the branch and the number of events in it.
func (r *Repository) Count(ctx context.Context) (head string, events int, err error) {
	at, _, err := r.tips(ctx)
	if err != nil {
		return "", 0, asProblem(err)
	}
	err = gittree.Walk(r.log.Store(), at.Tree, func(path string, _ plumbing.Hash) error {
		if path != commitform.SpaceFile {
			events++
		}
		return ctx.Err()
	})
	return at.Commit.String(), events, err
}

// Events calls fn with the stored bytes of every event on the branch, in the
// order of their ids. A damaged one ends it.
func (r *Repository) Events(ctx context.Context, fn func([]byte) error) error {
	_, err := r.EventsAfter(ctx, Moment{}, fn)
	return err
}

// A Moment is what a space held once. The zero Moment is when it held nothing.
type Moment struct {
	tree, epoch plumbing.Hash
	// Of a reading that was not whole: the tree that it was to lead to, and the
	// last event of it that was read.
	to   plumbing.Hash
	read event.ID
}

// ErrPurgedSince means that events were purged after a moment, so that what came
// after it cannot be told. Begin anew with the zero Moment.
var ErrPurgedSince = errors.New("events were purged from the space since")

// EventsAfter is Events for those that have come after a moment. It returns the
// moment to which they lead; with an error the one after the last event that fn
// took, from where it can be gone on with. It holds no lock that a push needs.
// Errors: those of Events, and ErrPurgedSince.
func (r *Repository) EventsAfter(ctx context.Context, from Moment, fn func([]byte) error) (Moment, error) {
	at, epoch, err := r.tips(ctx)
	if err != nil {
		return from, asProblem(err)
	}
	if from != (Moment{}) && from.epoch != epoch {
		return from, ErrPurgedSince
	}
	from.epoch = epoch
	for from.tree != at.Tree {
		if from.to.IsZero() {
			from.to = at.Tree
		}
		if from, err = r.eventsUpTo(ctx, from, fn); err != nil {
			return from, asProblem(err)
		}
	}
	return from, nil
}

// eventsUpTo reads what a moment has still to come to.
func (r *Repository) eventsUpTo(ctx context.Context, from Moment, fn func([]byte) error) (Moment, error) {
	err := r.log.AddedAfter(ctx, from.tree, from.to, from.read, func(s eventlog.Stored) error {
		if bad := s.Corrupt(); bad != nil {
			return bad
		}
		if err := fn(s.Bytes); err != nil {
			return err
		}
		from.read = s.ID
		return nil
	})
	if err != nil {
		return from, err
	}
	return Moment{tree: from.to, epoch: from.epoch}, nil
}

// history is the graph of everything that the refs lead to.
func (r *Repository) history(refs map[string]plumbing.Hash) (*history.Graph, error) {
	g, err := r.log.History(slices.Collect(maps.Values(refs))...)
	if err != nil {
		return nil, asProblem(err)
	}
	if r.log.Untidy() {
		r.tidy.start()
	}
	return g, nil
}

// ServeFetch is git-upload-pack on the stream; caps are capabilities to be shown
// besides git's. Errors: a *problem.Problem about the repository, and those of
// gitwire.ServeUpload.
func (r *Repository) ServeFetch(ctx context.Context, stream hubwire.Stream, caps []string) error {
	ctx, done := r.epochs.fetch(ctx)
	defer done()
	refs, err := r.Refs(ctx)
	if err != nil {
		return err
	}
	g, err := r.history(refs)
	if err != nil {
		return err
	}
	return gitwire.ServeUpload(ctx, frank{stream, func() error { return context.Cause(ctx) }}, &upload{Graph: g, r: r, refs: refs, caps: caps})
}

// A frank stream tells the client why it is closed.
type frank struct {
	hubwire.Stream
	why func() error
}

func (f frank) Close() error { return f.CloseWith(f.why()) }

// upload is one fetch: what it was shown first stays true to its end.
type upload struct {
	*history.Graph
	r    *Repository
	refs map[string]plumbing.Hash
	caps []string
}

// Caps is for gitwire.Capable.
func (u *upload) Caps() gitwire.Capabilities { return u.caps }

func (u *upload) Refs() (map[string]plumbing.Hash, error) { return u.refs, nil }

func (u *upload) Head() (string, error) { return event.MainRef, nil }

func (u *upload) WritePack(ctx context.Context, w io.Writer, wants, haves []plumbing.Hash) error {
	fresh, err := u.fresh(haves)
	if err != nil {
		return err
	}
	if fresh {
		if sent, err := u.r.sendWhole(ctx, w, wants); sent || err != nil {
			return err
		}
	}
	store := u.r.log.Store()
	ids, err := history.NewObjects(ctx, store, u.Graph, wants, haves)
	if err != nil {
		return err
	}
	return store.EncodePack(w, ids)
}

// fresh says whether a client has nothing worth leaving out: at most first
// commits, such as a machine makes by itself before it fetches a space.
func (u *upload) fresh(haves []plumbing.Hash) (bool, error) {
	for _, have := range haves {
		if parents, err := u.Parents(have); err != nil || len(parents) > 0 {
			return false, err
		}
	}
	return true, nil
}

func (r *Repository) close() error {
	r.tidy.stop()
	r.epochs.stop()
	return r.log.Close()
}

// Find is every event whose id is ref, or starts or ends with it; none for a ref
// of fewer than six characters. Only for a part of an id it looks through the
// space. Errors: *eventlog.CorruptError, and a *problem.Problem about the
// repository.
func (r *Repository) Find(ctx context.Context, ref string) ([]event.Event, error) {
	head, _, err := r.tips(ctx)
	if err != nil {
		return nil, asProblem(err)
	}
	var found []event.Event
	add := func(id event.ID) error {
		stored, err := r.log.Event(head.Tree, id)
		if err == nil {
			found = append(found, stored.Event)
		}
		return err
	}
	if id, whole := event.ParseID(digits(ref)); whole == nil {
		if err := add(id); !errors.Is(err, eventlog.ErrNotFound) {
			return found, asProblem(err)
		}
		return nil, nil
	}
	err = gittree.Walk(r.log.Store(), head.Tree, func(path string, _ plumbing.Hash) error {
		if id, ok := commitform.IDAt(path); ok && means(ref, id) {
			return add(id)
		}
		return ctx.Err()
	})
	return found, asProblem(err)
}
