package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
)

// Appended is an event that is now in the history.
type Appended struct {
	Event  event.Event
	Bytes  []byte // the stored file
	Commit plumbing.Hash
	Tree   plumbing.Hash // of the commit
}

// A Change is where the branch should go, and the objects that are not stored
// yet. A zero Tip leaves the branch where it is.
type Change struct {
	Tip     plumbing.Hash
	Objects []gitstore.Object
}

// maxRaces is how often a change is made again because stock git moved the
// branch in the instant between reading and writing it.
const maxRaces = 8

// Update moves the branch. It calls fn with the current head while it holds
// the log's lock, stores the objects fn returns, and moves the branch to the
// tip, all durably; fn must be quick, must not append, and may be called again
// when another program moved the branch meanwhile. The result is the head
// afterwards. Errors: those of Head and Settle, of fn, ErrBusy,
// *IncompleteError.
func (l *Log) Update(ctx context.Context, fn func(Head) (Change, error)) (h Head, err error) {
	for range maxRaces {
		err = l.alone(ctx, func() error {
			h, err = l.update(fn)
			return err
		})
		if !isRace(err) {
			return h, incomplete(err)
		}
	}
	return Head{}, ErrBusy
}

func isRace(err error) bool {
	_, raced := errors.AsType[*gitstore.RefChangedError](err)
	return raced
}

func (l *Log) update(fn func(Head) (Change, error)) (Head, error) {
	head, err := l.Head()
	if err != nil {
		return Head{}, err
	}
	c, err := fn(head)
	if err != nil {
		return Head{}, err
	}
	if c.Tip.IsZero() || c.Tip == head.Commit {
		return head, nil
	}
	if _, err := l.store.WritePack(c.Objects); err != nil {
		return Head{}, fmt.Errorf("store %d objects: %w", len(c.Objects), err)
	}
	if err := l.store.UpdateRef(head.Ref, head.Commit, c.Tip); err != nil {
		return Head{}, err
	}
	return l.Head()
}

// Append adds the events that build returns, each as a commit of its own, and
// returns when they are durable (see Durability). build runs under the log's lock with the head
// that the events will follow; it may be called again, as for Update, and may
// return none. Each event must be signed, of this space and of the head's
// branch. Errors: those of Update and of build, what event.Validate finds, and
// *purge.PurgedError; then nothing is appended.
func (l *Log) Append(ctx context.Context, build func(Head) ([]event.Event, error)) ([]Appended, error) {
	for range maxRaces {
		done, err := l.tryAppend(ctx, build)
		switch {
		case errors.Is(err, errUnsettled):
			if err := l.Settle(ctx); err != nil && !isRace(err) {
				return nil, err
			}
		case errors.Is(err, errLong):
			return l.appendLong(ctx, build)
		case !isRace(err):
			return done, incomplete(err)
		}
	}
	return nil, ErrBusy
}

// What tryAppend says when another way has to be taken.
var (
	errUnsettled = errors.New("the write-ahead log has to be settled first")
	errLong      = errors.New("the events are too long for the write-ahead log")
)

// tryAppend waits for the disk once: for the record in the write-ahead log.
// What follows makes the events visible, and is made again from the record if
// it gets lost.
func (l *Log) tryAppend(ctx context.Context, build func(Head) ([]event.Event, error)) ([]Appended, error) {
	var done []Appended
	turned := false
	err := l.locked(ctx, func() error {
		head, err := l.appendTo()
		if err != nil {
			return err
		}
		c, err := l.build(head, build, l.journal.longest())
		if err != nil || len(c.done) == 0 {
			return err
		}
		done = c.done
		turned, err = l.write(head, c)
		return err
	})
	if turned && l.backlog != nil {
		l.backlog()
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// appendTo is the head that an append follows.
func (l *Log) appendTo() (Head, error) {
	head, err := l.Head()
	if err == nil && l.journal.leadsTo(head.Commit) {
		return head, nil
	}
	// A power cut may have spoiled what the write-ahead log knows.
	branch, berr := l.branch()
	switch {
	case berr != nil:
		return Head{}, berr
	case !l.journal.leadsTo(branch):
		return Head{}, errUnsettled
	}
	return head, err
}

// build makes the chain of an append, unless it becomes longer than the
// write-ahead log takes (errLong).
func (l *Log) build(head Head, build func(Head) ([]event.Event, error), longest int) (*chain, error) {
	c := newChain(l.store, head)
	events, err := build(head)
	if err == nil {
		err = l.refusePurged(idsOf(events)...)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if err := c.add(l.Space(), e); err != nil {
			return nil, err
		}
		if c.recorded > longest {
			return nil, errLong
		}
	}
	return c, nil
}

// write puts c into the write-ahead log, and then where everybody finds it. It
// reports whether somebody should settle.
func (l *Log) write(head Head, c *chain) (turned bool, err error) {
	late, err := l.store.NewLatePack(c.objects)
	if err != nil {
		return false, err
	}
	r := c.record(late.ID())
	turned, err = l.journal.append(head.Commit, r, l.durability == Full)
	if errors.Is(err, errFull) {
		return false, errUnsettled
	}
	if err != nil {
		return false, fmt.Errorf("write ahead: %w", err)
	}
	err = late.Store()
	if err == nil {
		err = l.store.UpdateRefLater(head.Ref, head.Commit, c.head.Commit)
	}
	if err != nil {
		err = l.undo(r, late.Begun(), err)
	}
	return turned, err
}

// undo takes an append back that failed with cause after it was recorded, so
// that it does not come back either. It is no failure if the branch has moved
// all the same. If the branch cannot be read the append may have happened.
// begun says whether there can be a pack of it: a folder that takes no files
// gives none away either.
func (l *Log) undo(r record, begun bool, cause error) error {
	now, err := l.branch()
	if err != nil || now.IsZero() {
		return errors.Join(cause, err)
	}
	if now == r.tip() {
		return nil
	}
	// In this order: a record is what the pack is found by.
	if begun {
		err = l.store.RemovePacks(r.pack)
	}
	if err == nil {
		err = l.journal.retract()
	}
	return errors.Join(cause, err)
}

// appendLong is Append by way of a pack that is synced at once.
func (l *Log) appendLong(ctx context.Context, build func(Head) ([]event.Event, error)) ([]Appended, error) {
	var done []Appended
	_, err := l.Update(ctx, func(h Head) (Change, error) {
		c, err := l.build(h, build, math.MaxInt)
		if err != nil {
			return Change{}, err
		}
		done = c.done
		if len(done) == 0 {
			return Change{}, nil
		}
		return Change{Tip: c.head.Commit, Objects: c.objects}, nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func idsOf(events []event.Event) []event.ID {
	ids := make([]event.ID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// chain makes commits one after the other without storing them.
type chain struct {
	over    *gittree.Overlay
	head    Head
	objects []gitstore.Object
	done    []Appended

	size     int // bytes of the objects
	recorded int // bytes of the record of all this
}

func newChain(r gittree.Reader, h Head) *chain {
	return &chain{over: gittree.NewOverlay(r), head: h}
}

func (c *chain) add(space commitform.Space, e event.Event) error {
	if err := e.Validate(); err != nil {
		return err
	}
	if e.Space != space.Name {
		return &event.InvalidError{Field: "space", Reason: "is not the space of this log"}
	}
	if e.Ref != c.head.Ref {
		return &event.InvalidError{Field: "ref", Reason: "is not the branch of this log"}
	}
	b, err := event.Encode(e)
	if err != nil {
		return err
	}
	return c.addFile(e, e.ID, commitform.HeadOf(e), b)
}

// addStored adds what was stored before, also an event of a newer schema.
func (c *chain) addStored(s Stored) error {
	head, err := commitform.HeadIn(s.Bytes)
	if err != nil {
		return fmt.Errorf("append event %s: %w", s.ID, err)
	}
	return c.addFile(s.Event, s.ID, head, s.Bytes)
}

func (c *chain) addFile(e event.Event, id event.ID, head commitform.EventHead, b []byte) error {
	blob := gitstore.NewObject(plumbing.BlobObject, b)
	tree, made, err := gittree.Insert(c.over, c.head.Tree, commitform.Path(id), blob.Hash)
	if err != nil {
		return fmt.Errorf("append event %s: %w", id, err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, c.head.Commit, head))
	made = append(made, blob, commit)
	c.over.Add(made...)
	c.objects = append(c.objects, made...)
	for _, o := range made {
		c.size += len(o.Data)
	}
	c.head.Commit, c.head.Tree = commit.Hash, tree
	c.recorded += len(b) + recordedExtra
	c.done = append(c.done, Appended{Event: e, Bytes: b, Commit: commit.Hash, Tree: tree})
	return nil
}

// record is the chain for the write-ahead log.
func (c *chain) record(pack plumbing.Hash) record {
	r := record{pack: pack}
	for _, a := range c.done {
		r.events = append(r.events, recorded{a.Commit, a.Bytes})
	}
	return r
}
