package eventlog

import (
	"context"
	"errors"
	"fmt"

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
// tip; fn must be quick, must not append, and may be called again when another
// program moved the branch meanwhile. The result is the head afterwards.
// Errors: those of Head, of fn, ErrBusy, *IncompleteError.
func (l *Log) Update(ctx context.Context, fn func(Head) (Change, error)) (h Head, err error) {
	lock, err := l.store.Lock(ctx)
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	for range maxRaces {
		h, err = l.update(fn)
		if _, raced := errors.AsType[*gitstore.RefChangedError](err); !raced {
			return h, incomplete(err)
		}
	}
	return Head{}, ErrBusy
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
// returns when they are durable. build runs under the log's lock with the head
// that the events will follow; it may be called again, as for Update, and may
// return none. Each event must be signed, of this space and of the head's
// branch. Errors: those of Update and of build, and what event.Validate finds;
// then nothing is appended.
func (l *Log) Append(ctx context.Context, build func(Head) ([]event.Event, error)) ([]Appended, error) {
	var done []Appended
	_, err := l.Update(ctx, func(h Head) (Change, error) {
		done = nil
		events, err := build(h)
		if err != nil || len(events) == 0 {
			return Change{}, err
		}
		c := newChain(l.store, h)
		for _, e := range events {
			if err := c.add(l.Space(), e); err != nil {
				return Change{}, err
			}
		}
		done = c.done
		return Change{Tip: c.head.Commit, Objects: c.objects}, nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// Replay replaces everything after the commit onto by the given events, with
// their bytes as they are, each as a new commit, in the given order. It is how
// a machine's own events move onto a hub's history. expect is the head that may
// be replaced; if the log has moved on, nothing happens and the error is
// ErrBusy.
func (l *Log) Replay(ctx context.Context, expect, onto plumbing.Hash, events []Stored) ([]Appended, error) {
	var done []Appended
	_, err := l.Update(ctx, func(h Head) (Change, error) {
		if h.Commit != expect {
			return Change{}, ErrBusy
		}
		base, err := l.headAt(h.Ref, onto)
		if err != nil {
			return Change{}, err
		}
		c := newChain(l.store, base)
		for _, s := range events {
			if err := c.addBytes(s.Event, s.Bytes); err != nil {
				return Change{}, err
			}
		}
		done = c.done
		return Change{Tip: c.head.Commit, Objects: c.objects}, nil
	})
	return done, err
}

// chain makes commits one after the other without storing them.
type chain struct {
	over    *gittree.Overlay
	head    Head
	objects []gitstore.Object
	done    []Appended
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
	return c.addBytes(e, b)
}

func (c *chain) addBytes(e event.Event, b []byte) error {
	blob := gitstore.NewObject(plumbing.BlobObject, b)
	tree, made, err := gittree.Insert(c.over, c.head.Tree, commitform.Path(e.ID), blob.Hash)
	if err != nil {
		return fmt.Errorf("append event %s: %w", e.ID, err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, c.head.Commit, commitform.HeadOf(e)))
	made = append(made, blob, commit)
	c.over.Add(made...)
	c.objects = append(c.objects, made...)
	c.head.Commit, c.head.Tree = commit.Hash, tree
	c.done = append(c.done, Appended{Event: e, Bytes: b, Commit: commit.Hash})
	return nil
}
