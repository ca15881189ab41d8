package gittree_test

import (
	"errors"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// Whatever two trees and one below them are made of, looking, comparing, joining and inserting end with a result or with an
// error of their own; and of good trees only good trees are made.
func FuzzTrees(f *testing.F) {
	file, sub := plumbing.NewHash("0101"), gitstore.NewObject(plumbing.TreeObject, raw("100644 x")).Hash
	dir := append([]byte("40000 a\x00"), sub[:]...)
	f.Add(raw("100644 a", "100644 b"), raw("100644 b", "100644 c"), []byte{})
	f.Add(dir, raw("100644 a"), raw("100644 x"))
	f.Add(append(dir, raw("100644 b")...), dir, raw("100644 x"))
	f.Add(raw("40000 a"), raw("40000 a", "100755 b"), raw("100644 y"))
	f.Add([]byte("40000 a\x00short"), []byte{}, []byte("x"))
	f.Fuzz(func(t *testing.T, a, b, below []byte) {
		s := gittreetest.New()
		put := func(raw []byte) plumbing.Hash {
			o := gitstore.NewObject(plumbing.TreeObject, raw)
			s.Put(o)
			return o.Hash
		}
		left, right := put(a), put(b)
		put(below)
		good := true
		for _, raw := range [][]byte{a, b, below} {
			_, err := gittree.Parse(raw)
			good = good && err == nil
		}
		expected(t, gittree.Diff(s, left, right, func(c gittree.Change) error {
			if c.Old == c.New || c.Path == "" {
				t.Errorf("a change that is none: %+v", c)
			}
			return nil
		}))
		_, err := gittree.Lookup(s, left, "a/x")
		expected(t, err)
		joined, made, err := gittree.Union(s, left, right)
		readable(t, s, good, joined, made, err)
		back, _, backErr := gittree.Union(s, right, left)
		if err == nil && (backErr != nil || back != joined) {
			t.Errorf("joined to %s, and the other way to %s, %v", joined, back, backErr)
		}
		grown, made, err := gittree.Insert(s, left, "a/new", file)
		readable(t, s, good, grown, made, err)
	})
}

// expected fails on errors that are not about the trees.
func expected(t *testing.T, err error) {
	t.Helper()
	_, conflict := errors.AsType[*gittree.ConflictError](err)
	if err != nil && !conflict && !isMalformed(err) && !errors.Is(err, gittree.ErrNotFound) && !errors.Is(err, gittree.ErrExists) && !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("an error of no kind: %v", err)
	}
}

// readable checks that what was made is there, and can be read if it was made of good trees.
func readable(t *testing.T, s *gittreetest.Store, good bool, root plumbing.Hash, made []gitstore.Object, err error) {
	t.Helper()
	expected(t, err)
	if err != nil {
		return
	}
	for _, o := range made {
		if _, err := gittree.Parse(o.Data); good && err != nil && o.Type == plumbing.TreeObject {
			t.Errorf("made a tree that cannot be read: %v", err)
		}
	}
	s.Put(made...)
	if _, err := s.Object(root); err != nil {
		t.Errorf("the new tree is missing: %v", err)
	}
}
