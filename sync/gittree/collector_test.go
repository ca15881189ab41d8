package gittree_test

import (
	"maps"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// closure is every tree and blob below root.
func closure(t fataler, s *gittreetest.Store, root plumbing.Hash) map[plumbing.Hash]bool {
	all := map[plumbing.Hash]bool{root: true}
	o, err := s.Object(root)
	if err != nil {
		t.Fatalf("%v", err)
	}
	entries, err := gittree.Parse(o.Data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, e := range entries {
		all[e.Hash] = true
		if e.IsDir() {
			maps.Copy(all, closure(t, s, e.Hash))
		}
	}
	return all
}

func TestACollectorFindsWhatTheBasesLack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		c, have := gittree.NewCollector(s), make(map[plumbing.Hash]bool)
		var bases []plumbing.Hash
		for _, m := range rapid.SliceOfN(models(), 0, 2).Draw(t, "bases") {
			bases = append(bases, s.Tree(m))
			maps.Copy(have, closure(t, s, s.Tree(m)))
		}
		wanted := make(map[plumbing.Hash]bool)
		for _, m := range rapid.SliceOfN(models(), 1, 3).Draw(t, "chain") {
			root := s.Tree(m)
			maps.Copy(wanted, closure(t, s, root))
			if err := c.Add(root, bases...); err != nil {
				t.Fatal(err)
			}
			bases = append(bases[:0:0], root)
		}
		got := make(map[plumbing.Hash]bool)
		for _, h := range c.Objects() {
			if got[h] || !wanted[h] {
				t.Fatalf("%s comes twice or is not in any tree", h)
			}
			got[h] = true
		}
		for h := range wanted {
			if !got[h] && !have[h] {
				t.Fatalf("%s is missing", h)
			}
		}
	})
}
