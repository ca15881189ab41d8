package history_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

// objects is everything below the commits.
func objects(t *rapid.T, s *gittreetest.Store, commits map[plumbing.Hash]bool) map[plumbing.Hash]bool {
	all := maps.Clone(commits)
	var tree func(h plumbing.Hash)
	tree = func(h plumbing.Hash) {
		all[h] = true
		o, err := s.Object(h)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := gittree.Parse(o.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all[e.Hash] = true
			if e.IsDir() {
				tree(e.Hash)
			}
		}
	}
	for h := range commits {
		c, err := history.ReadCommit(s, h)
		if err != nil {
			t.Fatal(err)
		}
		tree(c.Tree)
	}
	return all
}

func TestNewObjectsCompleteWhatTheReceiverHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		wants, haves := d.some(t, "wants"), d.some(t, "haves")
		got, err := history.NewObjects(context.Background(), d.store, d.graph(t), wants, haves)
		if err != nil {
			t.Fatal(err)
		}
		wanted := objects(t, d.store, d.history(wants...))
		complete := objects(t, d.store, d.history(haves...))
		sent := make(map[plumbing.Hash]bool)
		for _, h := range got {
			if sent[h] || !wanted[h] {
				t.Fatalf("object %s is sent twice or not wanted", h)
			}
			sent[h], complete[h] = true, true
		}
		for h := range wanted {
			if !complete[h] {
				t.Fatalf("object %s is missing", h)
			}
		}
	})
}

// A piece may hold an object again that another one left out for being known by then; none holds what no want has.
func TestPiecesOfNewObjectsAreAllOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g, wants, haves := d.graph(t), d.some(t, "wants"), d.some(t, "haves")
		whole, err := history.NewObjects(context.Background(), d.store, g, wants, haves)
		if err != nil {
			t.Fatal(err)
		}
		pieces := make(map[plumbing.Hash]bool)
		step := rapid.IntRange(1, 10).Draw(t, "step")
		err = history.EachNew(context.Background(), d.store, g, wants, haves, step, func(ids []plumbing.Hash) error {
			for _, h := range ids {
				pieces[h] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range whole {
			if !pieces[h] {
				t.Fatalf("object %s is in no piece", h)
			}
		}
		all, err := history.NewObjects(context.Background(), d.store, g, wants, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range all {
			delete(pieces, h)
		}
		if len(pieces) > 0 {
			t.Fatalf("%d objects that no want has", len(pieces))
		}
	})
}

func TestNewObjectsEndWithTheContext(t *testing.T) {
	s := gittreetest.New()
	g, tip := history.New(s), s.Commit(s.Tree(nil), 1)
	if err := g.Add(tip); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := history.NewObjects(ctx, s, g, []plumbing.Hash{tip}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
