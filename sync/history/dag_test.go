package history_test

import (
	"fmt"
	"maps"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

// dag is a random history: commits[i] has parents only among the earlier ones.
type dag struct {
	store   *gittreetest.Store
	commits []plumbing.Hash
	above   map[plumbing.Hash]map[plumbing.Hash]bool // each commit's history, found the simple way
}

// GoString keeps a failure readable.
func (d dag) GoString() string {
	var b strings.Builder
	for _, c := range d.commits {
		fmt.Fprintf(&b, "%.6s on %d others; ", c, len(d.above[c])-1)
	}
	return b.String()
}

func dags() *rapid.Generator[dag] {
	return rapid.Custom(func(t *rapid.T) dag {
		d := dag{store: gittreetest.New(), above: make(map[plumbing.Hash]map[plumbing.Hash]bool)}
		files := make(map[string]string)
		for i := range rapid.IntRange(1, 25).Draw(t, "commits") {
			var parents []plumbing.Hash
			if i > 0 {
				for _, p := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, min(i, 3), rapid.ID[int]).Draw(t, "parents") {
					parents = append(parents, d.commits[p])
				}
			}
			files[fmt.Sprintf("d%d/%d", i%3, i)] = fmt.Sprint(i)
			// Times go backwards and repeat: they must not matter.
			d.add(d.store.Commit(d.store.Tree(files), int64(100-i%7), parents...), parents)
		}
		return d
	})
}

func (d *dag) add(c plumbing.Hash, parents []plumbing.Hash) {
	all := map[plumbing.Hash]bool{c: true}
	for _, p := range parents {
		maps.Copy(all, d.above[p])
	}
	d.commits, d.above[c] = append(d.commits, c), all
}

// history is what the commits can reach.
func (d *dag) history(tips ...plumbing.Hash) map[plumbing.Hash]bool {
	all := make(map[plumbing.Hash]bool)
	for _, c := range tips {
		maps.Copy(all, d.above[c])
	}
	return all
}

// graph learns the commits in several steps, in any order.
func (d *dag) graph(t *rapid.T) *history.Graph {
	g := history.New(d.store)
	for _, c := range rapid.Permutation(d.commits).Draw(t, "order") {
		if err := g.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if g.Len() != len(d.commits) {
		t.Fatalf("the graph has %d commits of %d", g.Len(), len(d.commits))
	}
	return g
}

// some draws a few commits.
func (d *dag) some(t *rapid.T, what string) []plumbing.Hash {
	return rapid.SliceOfN(rapid.SampledFrom(d.commits), 0, 3).Draw(t, what)
}
