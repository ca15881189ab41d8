package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// Stored is an event as it lies in the log.
type Stored struct {
	ID    event.ID
	Bytes []byte
	Event event.Event // zero when Err is not nil
	Err   error       // *event.NewerSchemaError: keep and show it, do not read it
}

// Event reads one event at tree. Errors: ErrNotFound, *CorruptError.
func (l *Log) Event(tree plumbing.Hash, id event.ID) (Stored, error) {
	path := commitform.Path(id)
	entry, err := gittree.Lookup(l.store, tree, path)
	if errors.Is(err, gittree.ErrNotFound) {
		return Stored{}, ErrNotFound
	}
	if err != nil {
		return Stored{}, err
	}
	return l.read(id, path, entry.Hash)
}

// Added calls fn with every event that the tree to has and the tree from has
// not, in the order of their ids; the zero tree has none. An error of fn ends
// it and is returned. Errors of its own: *CorruptError, and the context's.
func (l *Log) Added(ctx context.Context, from, to plumbing.Hash, fn func(Stored) error) error {
	return l.added(ctx, from, to, func(id event.ID, c gittree.Change) error {
		s, err := l.read(id, c.Path, c.New)
		if err != nil {
			return err
		}
		return fn(s)
	})
}

// AddedIDs lists what Added would call its function with, without reading it.
func (l *Log) AddedIDs(ctx context.Context, from, to plumbing.Hash) ([]event.ID, error) {
	var ids []event.ID
	err := l.added(ctx, from, to, func(id event.ID, _ gittree.Change) error {
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

func (l *Log) added(ctx context.Context, from, to plumbing.Hash, fn func(event.ID, gittree.Change) error) error {
	return gittree.Diff(l.store, from, to, func(c gittree.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.New.IsZero() || c.Path == commitform.SpaceFile {
			return nil
		}
		id, ok := commitform.IDAt(c.Path)
		if !ok {
			return &CorruptError{Path: c.Path, Err: errors.New("no event belongs here")}
		}
		return fn(id, c)
	})
}

func (l *Log) read(id event.ID, path string, blob plumbing.Hash) (Stored, error) {
	o, err := l.store.Object(blob)
	if err != nil {
		return Stored{}, &CorruptError{ID: id, Path: path, Err: err}
	}
	s := Stored{ID: id, Bytes: o.Data}
	s.Event, s.Err = event.Decode(o.Data)
	if _, newer := errors.AsType[*event.NewerSchemaError](s.Err); newer {
		return s, nil
	}
	if s.Err == nil && s.Event.ID != id {
		s.Err = errors.New("the event has another id than its path")
	}
	if s.Err != nil {
		return Stored{}, &CorruptError{ID: id, Path: path, Err: s.Err}
	}
	return s, nil
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
			return nil, fmt.Errorf("walk the history: %w", err)
		}
		if id, ok := eventOf(o.Data); ok && want[id] {
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

// eventOf is the id in the subject of an event commit.
func eventOf(commit []byte) (event.ID, bool) {
	_, message, ok := bytes.Cut(commit, []byte("\n\n"))
	if !ok {
		return "", false
	}
	subject, _, _ := bytes.Cut(message, []byte("\n"))
	kind, name, ok := bytes.Cut(subject, []byte(": "))
	if !ok || event.NewPayload(event.Kind(kind)) == nil {
		return "", false
	}
	id, err := event.ParseID(string(name))
	return id, err == nil
}
