package gittree_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// union is what Union must find: all files, or no union.
func union(a, b map[string]string) (map[string]string, bool) {
	all := maps.Clone(a)
	for path, text := range b {
		if have, ok := a[path]; ok && have == text {
			continue
		}
		if !fits(a, path) {
			return nil, false
		}
		all[path] = text
	}
	return all, true
}

func TestUnionAgreesWithMapsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		a, b := models().Draw(t, "a"), models().Draw(t, "b")
		x, errX := join(s, s.Tree(a), s.Tree(b))
		y, errY := join(s, s.Tree(b), s.Tree(a))
		if x != y || (errX == nil) != (errY == nil) {
			t.Fatalf("a+b is %s, %v; b+a is %s, %v", x, errX, y, errY)
		}
		want, ok := union(a, b)
		if !ok {
			cx, isX := errors.AsType[*gittree.ConflictError](errX)
			cy, isY := errors.AsType[*gittree.ConflictError](errY)
			if !isX || !isY || cx.Path != cy.Path {
				t.Fatalf("%v and %v: %v, other way %v", a, b, errX, errY)
			}
			return
		}
		if errX != nil || x != s.Tree(want) {
			t.Fatalf("%v and %v make %s, %v", a, b, x, errX)
		}
	})
}

func join(s *gittreetest.Store, a, b plumbing.Hash) (plumbing.Hash, error) {
	id, made, err := gittree.Union(s, a, b)
	s.Put(made...)
	return id, err
}

func TestUnionIsAssociativeAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		var tree [3]plumbing.Hash
		for i := range tree {
			tree[i] = s.Tree(models().Draw(t, "files"))
			if x, made, err := gittree.Union(s, tree[i], tree[i]); x != tree[i] || made != nil || err != nil {
				t.Fatalf("a tree with itself: %s, %v, %v", x, made, err)
			}
		}
		ab, err1 := join(s, tree[0], tree[1])
		bc, err2 := join(s, tree[1], tree[2])
		if err1 != nil || err2 != nil {
			return
		}
		left, errL := join(s, ab, tree[2])
		right, errR := join(s, tree[0], bc)
		if left != right || (errL == nil) != (errR == nil) {
			t.Fatalf("(a+b)+c is %s, %v; a+(b+c) is %s, %v", left, errL, right, errR)
		}
		if again, made, err := gittree.Union(s, left, ab); errL == nil && (again != left || made != nil || err != nil) {
			t.Fatalf("a part joined again: %s, %v, %v", again, made, err)
		}
	})
}
