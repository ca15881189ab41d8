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
	"cairn/sync/history"
)

// Stored is an event as it lies in the log.
type Stored struct {
	ID    event.ID    // empty if the path names no event; Err is a *CorruptError then
	Bytes []byte      // nil if they cannot be read
	Event event.Event // zero when Err is not nil
	// Err says why there is no Event. *event.NewerSchemaError: keep and show
	// it, do not read it. *CorruptError: leave it out, name it.
	Err error
}

// Corrupt is what is wrong with the stored bytes; nil if they are an event,
// also one that only a newer program can read.
func (s Stored) Corrupt() *CorruptError {
	bad, _ := errors.AsType[*CorruptError](s.Err)
	return bad
}

// Event reads one event at tree. Errors: ErrNotFound, *CorruptError,
// *IncompleteError.
func (l *Log) Event(tree plumbing.Hash, id event.ID) (Stored, error) {
	path := commitform.Path(id)
	entry, err := gittree.Lookup(l.store, tree, path)
	if errors.Is(err, gittree.ErrNotFound) {
		return Stored{}, ErrNotFound
	}
	if err != nil {
		return Stored{}, incomplete(err)
	}
	s, err := read(l.store, path, entry.Hash)
	if bad := s.Corrupt(); bad != nil {
		return Stored{}, bad
	}
	return s, err
}

// Added calls fn with every event that the tree to has and the tree from has
// not, in the order of their ids; the zero tree has none. One that is damaged
// comes without an Event and does not keep the others away. An error of fn
// ends it and is returned. Errors of its own: *IncompleteError if a tree is
// missing, those of a disk that cannot be read, and the context's.
func (l *Log) Added(ctx context.Context, from, to plumbing.Hash, fn func(Stored) error) error {
	return l.AddedAfter(ctx, from, to, "", fn)
}

// AddedAfter is Added for those whose ids are greater than after. The others are
// not read.
func (l *Log) AddedAfter(ctx context.Context, from, to plumbing.Hash, after event.ID, fn func(Stored) error) error {
	files := l.store.Scan()
	return l.added(ctx, from, to, func(path string, blob plumbing.Hash) error {
		if id, ok := commitform.IDAt(path); ok && id <= after {
			return nil
		}
		s, err := read(files, path, blob)
		if err != nil {
			return err
		}
		return fn(s)
	})
}

// AddedIDs lists the ids of what Added would call its function with, without
// reading it.
func (l *Log) AddedIDs(ctx context.Context, from, to plumbing.Hash) ([]event.ID, error) {
	var ids []event.ID
	err := l.added(ctx, from, to, func(path string, _ plumbing.Hash) error {
		if id, ok := commitform.IDAt(path); ok {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

func (l *Log) added(ctx context.Context, from, to plumbing.Hash, fn func(path string, blob plumbing.Hash) error) error {
	err := gittree.Diff(l.store, from, to, func(c gittree.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.New.IsZero() || c.Path == commitform.SpaceFile {
			return nil
		}
		return fn(c.Path, c.New)
	})
	return incomplete(err)
}

// read reads what lies at path. That the disk does not give it out is an
// error; that it is not an event is part of what was read.
func read(r gittree.Reader, path string, blob plumbing.Hash) (Stored, error) {
	id, ok := commitform.IDAt(path)
	if !ok {
		return Stored{Err: &CorruptError{Path: path, Err: errors.New("no event belongs here")}}, nil
	}
	s := Stored{ID: id}
	o, err := r.Object(blob)
	if _, damaged := errors.AsType[*gitstore.CorruptError](err); damaged || errors.Is(err, plumbing.ErrObjectNotFound) {
		s.Err = &CorruptError{ID: id, Path: path, Err: err}
		return s, nil
	}
	if err != nil {
		return Stored{}, fmt.Errorf("read event %s: %w", id, err)
	}
	s.Bytes = o.Data
	s.Event, s.Err = decode(id, path, o.Data)
	return s, nil
}

// decode reads an event's file. Errors: *event.NewerSchemaError,
// *CorruptError.
func decode(id event.ID, path string, b []byte) (event.Event, error) {
	e, err := event.Decode(b)
	if _, newer := errors.AsType[*event.NewerSchemaError](err); newer {
		return event.Event{}, err
	}
	if err == nil && e.ID != id {
		err = errors.New("the event has another id than its path")
	}
	if err != nil {
		return event.Event{}, &CorruptError{ID: id, Path: path, Err: err}
	}
	return e, nil
}

func (l *Log) headAt(ref string, commit plumbing.Hash) (Head, error) {
	c, err := history.ReadCommit(l.store, commit)
	if err != nil {
		return Head{}, err
	}
	return Head{Ref: ref, Commit: commit, Tree: c.Tree}, nil
}

// CommitsOf finds the commits that added the given events, walking back from
// head until it has them all. An event that the history does not have is left
// out.
func (l *Log) CommitsOf(ctx context.Context, head plumbing.Hash, ids []event.ID) (map[event.ID]plumbing.Hash, error) {
	want := make(map[event.ID]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	found := make(map[event.ID]plumbing.Hash, len(ids))
	seen := map[plumbing.Hash]bool{head: true}
	for queue := []plumbing.Hash{head}; len(queue) > 0 && len(found) < len(want); queue = queue[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o, err := l.store.Object(queue[0])
		if err != nil {
			return nil, fmt.Errorf("walk the history: %w", incomplete(err))
		}
		if id, ok := commitform.EventOf(o.Data); ok && want[id] {
			found[id] = queue[0]
		}
		c, err := history.ParseCommit(o.Data)
		if err != nil {
			return nil, fmt.Errorf("walk the history: %w", err)
		}
		for _, p := range c.Parents {
			if !seen[p] {
				seen[p] = true
				queue = append(queue, p)
			}
		}
	}
	return found, nil
}
