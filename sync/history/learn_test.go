package history_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gitstore"
	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

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
