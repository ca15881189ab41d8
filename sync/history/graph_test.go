package history_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

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
		base := rapid.SampledFrom(d.commits).Draw(t, "base")
		got, err := g.Following(base, d.commits)
		after := slices.DeleteFunc(slices.Clone(d.commits), func(c plumbing.Hash) bool { return !d.above[c][base] })
		if err != nil || !slices.Equal(got, after) {
			t.Fatalf("following %s: %v, want %v, %v", base, got, after, err)
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

func TestASampleReachesBackToTheBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Draw(t, "dag")
		g := d.graph(t)
		tips, limit := d.some(t, "tips"), rapid.IntRange(0, 12).Draw(t, "limit")
		got := g.Sample(tips, limit)
		for i, h := range got {
			newer := slices.ContainsFunc(tips, func(tip plumbing.Hash) bool { return d.above[h][tip] })
			if i >= len(tips) && (newer || slices.Contains(got[:i], h)) {
				t.Fatalf("sample %v of %v", got, tips)
			}
		}
		if len(got) > limit {
			t.Fatalf("%d samples, limit %d", len(got), limit)
		}
		if limit <= len(tips) || len(tips) == 0 {
			return
		}
		if !slices.ContainsFunc(got, func(h plumbing.Hash) bool { return len(d.above[h]) == 1 }) {
			t.Fatalf("sample %v holds no beginning", got)
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

// A walk keeps marks for 512 commits at a time, so what it allocates tells how far it went.
func TestOnlyTheNewPartOfALongHistoryIsWalked(t *testing.T) {
	s := gittreetest.New()
	g, tree := history.New(s), s.Tree(nil)
	base := s.Commit(tree, 0)
	for i := range 50 * 512 {
		base = s.Commit(tree, int64(i), base)
	}
	ours, theirs := s.Commit(tree, 1, base), s.Commit(tree, 2, base)
	if err := g.Add(ours, theirs); err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(){
		"between":  func() { _, _ = g.Between([]plumbing.Hash{ours}, []plumbing.Hash{theirs}) },
		"other":    func() { _, _ = g.Between([]plumbing.Hash{theirs}, []plumbing.Hash{ours}) },
		"bases":    func() { _, _ = g.MergeBases(ours, theirs) },
		"ancestor": func() { _, _ = g.Ancestor(theirs, ours) },
	} {
		if n := testing.AllocsPerRun(3, ask); n > 25 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
