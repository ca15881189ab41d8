package purge

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gittree"
	"cairn/sync/history"
)

// A Set is what was purged from a space. The nil Set is empty. It is never
// changed.
type Set struct {
	blobs  map[event.ID]plumbing.Hash
	events map[plumbing.Hash]event.ID
}

// NewSet is what the records say was purged.
func NewSet(records []Record) *Set {
	s := &Set{blobs: map[event.ID]plumbing.Hash{}, events: map[plumbing.Hash]event.ID{}}
	for _, r := range records {
		for _, e := range r.Events {
			s.blobs[e.ID] = plumbing.Hash(e.Blob)
			s.events[plumbing.Hash(e.Blob)] = e.ID
		}
	}
	return s
}

// Has says whether the event was purged.
func (s *Set) Has(id event.ID) bool {
	if s == nil {
		return false
	}
	_, ok := s.blobs[id]
	return ok
}

// Event is the purged event whose file the object h was.
func (s *Set) Event(h plumbing.Hash) (event.ID, bool) {
	if s == nil {
		return "", false
	}
	id, ok := s.events[h]
	return id, ok
}

// All are the purged events and their files.
func (s *Set) All() iter.Seq2[event.ID, plumbing.Hash] {
	if s == nil {
		return func(func(event.ID, plumbing.Hash) bool) {}
	}
	return maps.All(s.blobs)
}

// Len is how many there are.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.blobs)
}

// In lists the purged events that the tree holds, which should be none.
func (s *Set) In(r Reader, tree plumbing.Hash) ([]event.ID, error) {
	var held []event.ID
	for id := range s.All() {
		_, err := gittree.Lookup(r, tree, commitform.Path(id))
		switch {
		case err == nil:
			held = append(held, id)
		case !errors.Is(err, gittree.ErrNotFound):
			return nil, fmt.Errorf("look for purged events: %w", err)
		}
	}
	return held, nil
}

// InCommit is In for the tree of a commit.
func (s *Set) InCommit(r Reader, commit plumbing.Hash) ([]event.ID, error) {
	if s.Len() == 0 {
		return nil, nil
	}
	c, err := history.ReadCommit(r, commit)
	if err != nil {
		return nil, err
	}
	return s.In(r, c.Tree)
}

// Stored lists, in order, the purged events whose file a repository has all the
// same.
func (s *Set) Stored(has func(plumbing.Hash) (bool, error)) ([]event.ID, error) {
	var stored []event.ID
	for id, blob := range s.All() {
		is, err := has(blob)
		if err != nil {
			return nil, fmt.Errorf("look for the files of purged events: %w", err)
		}
		if is {
			stored = append(stored, id)
		}
	}
	slices.Sort(stored)
	return stored, nil
}
