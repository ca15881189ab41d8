package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gitstore"
	"cairn/sync/gittree"
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

func TestBetweenIsTheDifferenceOfHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := d.graph(t)
		wants, haves := d.some(t, "wants"), d.some(t, "haves")
		got, err := g.Between(wants, append(haves, plumbing.NewHash(idA)))
		if err != nil {
			t.Fatal(err)
		}
		want := d.history(wants...)
		for h := range d.history(haves...) {
			delete(want, h)
		}
		seen := d.history(haves...)
		for _, h := range got {
			parents, err := g.Parents(h)
			if err != nil || slices.ContainsFunc(parents, func(p plumbing.Hash) bool { return !seen[p] }) {
				t.Fatalf("commit %s comes before its parent, %v", h, err)
			}
			seen[h] = true
		}
		if len(got) != len(want) || slices.ContainsFunc(got, func(h plumbing.Hash) bool { return !want[h] }) {
			t.Fatalf("between are %v, want %v", got, want)
		}
	})
}

func TestAncestorsAreThoseInTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := d.graph(t)
		for _, a := range d.commits {
			for _, b := range d.commits {
				if got, err := g.Ancestor(a, b); err != nil || got != d.above[b][a] {
					t.Fatalf("%s in the history of %s: %v, %v", a, b, got, err)
				}
			}
		}
		wants, haves := d.some(t, "wants"), d.some(t, "haves")
		ready := !slices.ContainsFunc(wants, func(w plumbing.Hash) bool {
			return !slices.ContainsFunc(haves, func(h plumbing.Hash) bool { return d.above[w][h] })
		})
		if got := g.ReadyFor(wants, haves); got != ready {
			t.Fatalf("ready for %v with %v: %v", wants, haves, got)
		}
	})
}

func TestMergeBasesAreTheBestCommonAncestors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := d.graph(t)
		a, b := rapid.SampledFrom(d.commits).Draw(t, "a"), rapid.SampledFrom(d.commits).Draw(t, "b")
		var common, want []plumbing.Hash
		for h := range d.above[a] {
			if d.above[b][h] {
				common = append(common, h)
			}
		}
		for _, h := range common {
			if !slices.ContainsFunc(common, func(o plumbing.Hash) bool { return o != h && d.above[o][h] }) {
				want = append(want, h)
			}
		}
		slices.SortFunc(want, func(x, y plumbing.Hash) int { return bytes.Compare(x[:], y[:]) })
		got, err := g.MergeBases(a, b)
		other, err2 := g.MergeBases(b, a)
		if err != nil || err2 != nil || !slices.Equal(got, want) || !slices.Equal(other, want) {
			t.Fatalf("bases %v and %v, %v, %v, want %v", got, other, err, err2, want)
		}
	})
}

func TestASampleIsPartOfTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := d.graph(t)
		tips, limit := d.some(t, "tips"), rapid.IntRange(0, 12).Draw(t, "limit")
		got := g.Sample(tips, limit)
		all := d.history(tips...)
		for i, h := range got {
			if !all[h] || i >= len(tips) && slices.Contains(got[:i], h) {
				t.Fatalf("sample %v of %v", got, tips)
			}
		}
		if len(got) > limit {
			t.Fatalf("%d samples, limit %d", len(got), limit)
		}
		if limit <= len(tips) || len(tips) == 0 {
			return
		}
		if len(got) < min(len(all), len(tips)+1) {
			t.Fatalf("%d samples of %d commits below %d tips, limit %d", len(got), len(all), len(tips), limit)
		}
		if !slices.ContainsFunc(got, func(h plumbing.Hash) bool { return len(d.above[h]) == 1 }) {
			t.Fatalf("sample %v holds no beginning", got)
		}
	})
}

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

func TestAForkLearnsForItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := history.New(d.store)
		some := d.some(t, "first")
		if err := g.Add(some...); err != nil {
			t.Fatal(err)
		}
		before := g.Len()
		f := g.Fork(d.store)
		ff := f.Fork(d.store)
		if err := ff.Add(d.commits...); err != nil {
			t.Fatal(err)
		}
		if g.Len() != before || f.Len() != before || ff.Len() != len(d.commits) {
			t.Fatalf("%d commits, then %d and %d in the forks", g.Len(), f.Len(), ff.Len())
		}
		// What g learns later has other numbers than in the forks, and must not leak into them.
		if err := g.Add(d.some(t, "later")...); err != nil {
			t.Fatal(err)
		}
		for _, c := range d.commits {
			if f.Has(c) != d.history(some...)[c] {
				t.Fatalf("the fork knows %s: %v", c, f.Has(c))
			}
			got, err := ff.Between([]plumbing.Hash{c}, nil)
			if err != nil || len(got) != len(d.above[c]) {
				t.Fatalf("history of %s in the fork: %v, %v", c, got, err)
			}
		}
	})
}

func TestUnknownCommitsAreNamed(t *testing.T) {
	s := gittreetest.New()
	g := history.New(s)
	root := s.Commit(s.Tree(nil), 1)
	if err := g.Add(root); err != nil {
		t.Fatal(err)
	}
	lost := plumbing.NewHash(idA)
	_, err1 := g.Between([]plumbing.Hash{root, lost}, nil)
	_, err2 := g.Ancestor(root, lost)
	_, err3 := g.MergeBases(root, lost)
	_, err4 := g.Tree(lost)
	_, err5 := g.Parents(lost)
	_, err6 := history.NewObjects(context.Background(), s, g, []plumbing.Hash{lost}, nil)
	for i, err := range []error{err1, err2, err3, err4, err5, err6} {
		if u, ok := errors.AsType[*history.UnknownError](err); !ok || u.Commit != lost {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	if in, err := g.Ancestor(lost, root); in || err != nil {
		t.Errorf("a commit that nobody has is an ancestor: %v, %v", in, err)
	}
	if g.ReadyFor([]plumbing.Hash{lost}, []plumbing.Hash{root}) {
		t.Error("ready for a commit that nobody has")
	}
}

func TestAddReadsOnlyWhatIsNew(t *testing.T) {
	s := gittreetest.New()
	g := history.New(s)
	tree := s.Tree(nil)
	tip := s.Commit(tree, 0)
	for i := range 1000 {
		tip = s.Commit(tree, int64(i), tip)
	}
	if err := g.Add(tip); err != nil || g.Len() != 1001 || s.Reads() != 1001 {
		t.Fatalf("%d commits with %d reads, %v", g.Len(), s.Reads(), err)
	}
	if err := g.Add(s.Commit(tree, 5, tip), tip); err != nil || s.Reads() != 1002 {
		t.Errorf("one more commit: %d reads, %v", s.Reads(), err)
	}
}

func TestAnIncompleteHistoryIsNotLearned(t *testing.T) {
	s := gittreetest.New()
	g := history.New(s)
	lost := plumbing.NewHash(idA)
	middle := s.Commit(s.Tree(nil), 1, lost)
	tip := s.Commit(s.Tree(nil), 2, s.Commit(s.Tree(nil), 1), middle)
	if err := g.Add(tip); !errors.Is(err, plumbing.ErrObjectNotFound) || g.Len() != 0 {
		t.Errorf("%d commits, %v", g.Len(), err)
	}
}

// liar answers every id with one commit whose parent is the other id.
type liar struct{}

func (liar) Object(h plumbing.Hash) (gitstore.Object, error) {
	parent := idA
	if h.String() == idA {
		parent = idB
	}
	o := gitstore.NewObject(plumbing.CommitObject, []byte("tree "+idA+"\nparent "+parent+"\n\n"))
	o.Hash = h
	return o, nil
}

func TestAHistoryWithoutBeginningIsRefused(t *testing.T) {
	g := history.New(liar{})
	err := g.Add(plumbing.NewHash(idA))
	if _, ok := errors.AsType[*history.MalformedError](err); !ok || g.Len() != 0 {
		t.Errorf("%d commits, %v", g.Len(), err)
	}
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

func TestManyAskWhileOneLearns(t *testing.T) {
	s := gittreetest.New()
	g, tree := history.New(s), s.Tree(nil)
	root := s.Commit(tree, 0)
	if err := g.Add(root); err != nil {
		t.Fatal(err)
	}
	tips := []plumbing.Hash{root}
	for i := range 1200 {
		tips = append(tips, s.Commit(tree, int64(i), tips[i]))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := 1; i < len(tips); i += 7 {
				f := g.Fork(s)
				if err := f.Add(tips[i]); err != nil {
					t.Error(err)
				}
				if in, err := f.Ancestor(root, tips[i]); !in || err != nil {
					t.Errorf("commit %d: %v, %v", i, in, err)
				}
				if err := g.Add(tips[i]); err != nil || !g.ReadyFor(tips[i:i+1], tips[:1]) {
					t.Errorf("commit %d is not ready, %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}
