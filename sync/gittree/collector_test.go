package gittree_test

import (
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree"
	"cairn/sync/gittree/gittreetest"
)

// places is what a tree has at each path, files and directories.
func places(t fataler, s *gittreetest.Store, root plumbing.Hash) map[string]plumbing.Hash {
	all := map[string]plumbing.Hash{"": root}
	for path, blob := range walk(t, s, root) {
		all[path] = blob
		for i := range path {
			if path[i] != '/' {
				continue
			}
			e, err := gittree.Lookup(s, root, path[:i])
			if err != nil {
				t.Fatalf("look up %s: %v", path[:i], err)
			}
			all[path[:i]] = e.Hash
		}
	}
	return all
}

func TestACollectorFindsWhatTheBasesLackAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gittreetest.New()
		c, have := gittree.NewCollector(s), make(map[plumbing.Hash]bool)
		var bases []map[string]plumbing.Hash
		for _, m := range rapid.SliceOfN(models(), 0, 2).Draw(t, "bases") {
			b := places(t, s, s.Tree(m))
			bases = append(bases, b)
			for _, h := range b {
				have[h] = true
			}
		}
		wanted, changed := make(map[plumbing.Hash]bool), make(map[plumbing.Hash]bool)
		for _, m := range rapid.SliceOfN(models(), 1, 3).Draw(t, "chain") {
			now := places(t, s, s.Tree(m))
			var roots []plumbing.Hash
			for _, b := range bases {
				roots = append(roots, b[""])
			}
			if err := c.Add(now[""], roots...); err != nil {
				t.Fatal(err)
			}
			for path, h := range now {
				wanted[h] = true
				if !slices.ContainsFunc(bases, func(b map[string]plumbing.Hash) bool { return b[path] == h }) {
					changed[h] = true
				}
			}
			bases = []map[string]plumbing.Hash{now}
		}
		got := make(map[plumbing.Hash]bool)
		for _, h := range c.Objects() {
			if got[h] || !changed[h] {
				t.Fatalf("%s comes twice, or a base has it at its path", h)
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
