package merge_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"pgregory.net/rapid"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/event/eventtest"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// branch is a history that grows without being stored.
type branch struct {
	commit, tree plumbing.Hash
}

type world struct {
	*gittree.Overlay
	log *eventlog.Log
}

// Has completes the overlay to a gitstore.Reader.
func (w world) Has(h plumbing.Hash) (bool, error) {
	_, err := w.Object(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

func newWorld(t testing.TB) (world, branch) {
	t.Helper()
	l, err := eventlog.Create(disk.OS, filepath.Join(t.TempDir(), "s.git"), commitform.Space{Name: "personal", ID: event.NewID(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	head, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	return world{gittree.NewOverlay(l.Store()), l}, branch{head.Commit, head.Tree}
}

func (w world) grow(t fataler, b branch, text string) branch {
	e := eventtest.Signed(eventtest.Note(text), "laptop")
	data, err := event.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	blob := gitstore.NewObject(plumbing.BlobObject, data)
	tree, made, err := gittree.Insert(w, b.tree, commitform.Path(e.ID), blob.Hash)
	if err != nil {
		t.Fatal(err)
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, b.commit, commitform.HeadOf(e)))
	w.Add(append(made, blob, commit)...)
	return branch{commit.Hash, tree}
}

type fataler interface{ Fatal(...any) }

func (w world) join(t fataler, a, b branch) branch {
	g := history.New(w)
	if err := g.Add(a.commit, b.commit); err != nil {
		t.Fatal(err)
	}
	r, err := merge.Heads(w, g, a.commit, b.commit)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(r.Objects...)
	c, err := history.ReadCommit(w, r.Commit)
	if err != nil {
		t.Fatal(err)
	}
	return branch{r.Commit, c.Tree}
}

func TestJoinIsTheSameFromBothSides(t *testing.T) {
	w, root := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := root, root
		for i := range rapid.IntRange(0, 3).Draw(t, "ours") {
			a = w.grow(t, a, fmt.Sprint("a", i))
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "theirs") {
			b = w.grow(t, b, fmt.Sprint("b", i))
		}
		ab, ba := w.join(t, a, b), w.join(t, b, a)
		if ab != ba {
			t.Fatalf("joined to %v and to %v", ab, ba)
		}
		if again := w.join(t, ab, a); again != ab {
			t.Fatalf("joining again makes %v of %v", again, ab)
		}
		if a == root && ab != b || b == root && ab != a {
			t.Fatal("a history that holds the other was not taken as it is")
		}
	})
}

// Three machines that meet in any order and then once more end with one head.
func TestThreeHistoriesConverge(t *testing.T) {
	w, root := newWorld(t)
	a, b, c := w.grow(t, root, "a"), w.grow(t, root, "b"), w.grow(t, root, "c")
	orders := [][3]branch{{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}}
	trees := map[plumbing.Hash]bool{}
	last := branch{}
	for _, o := range orders {
		joined := w.join(t, w.join(t, o[0], o[1]), o[2])
		trees[joined.tree] = true
		if last == (branch{}) {
			last = joined
			continue
		}
		met, back := w.join(t, last, joined), w.join(t, joined, last)
		if met != back {
			t.Fatalf("%v and %v meet in %v and %v", last, joined, met, back)
		}
		last = met
	}
	if len(trees) != 1 {
		t.Fatalf("%d different trees", len(trees))
	}
}

// However the histories are joined first, all of them joined hold the same files; that is all that "associative" can mean
// for commits, which remember the way.
func TestJoinIsAssociativeInItsFiles(t *testing.T) {
	w, root := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		var three [3]branch
		for i := range three {
			three[i] = root
			for n := range rapid.IntRange(0, 3).Draw(t, "events") {
				three[i] = w.grow(t, three[i], fmt.Sprint(i, n))
			}
		}
		a, b, c := three[0], three[1], three[2]
		left, right := w.join(t, w.join(t, a, b), c), w.join(t, a, w.join(t, b, c))
		if left.tree != right.tree {
			t.Fatalf("(a b) c has the files %v, a (b c) %v", left.tree, right.tree)
		}
		if w.join(t, left, right) != w.join(t, right, left) {
			t.Fatal("the two ways do not join to one")
		}
	})
}

// Two to five replicas grow and meet in pairs in any order. Then the news is passed along a row of them and back, and
// all end with one commit; meeting again in any order changes nothing.
func TestReplicasThatMeetInPairsConverge(t *testing.T) {
	w, root := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		all := slices.Repeat([]branch{root}, rapid.IntRange(2, 5).Draw(t, "replicas"))
		one := rapid.IntRange(0, len(all)-1)
		meet := func(i, j int) {
			joined := w.join(t, all[i], all[j])
			all[i], all[j] = joined, joined
		}
		t.Repeat(map[string]func(*rapid.T){
			"grow": func(t *rapid.T) { i := one.Draw(t, "who"); all[i] = w.grow(t, all[i], "x") },
			"meet": func(t *rapid.T) { meet(one.Draw(t, "who"), one.Draw(t, "whom")) },
		})
		row := rapid.Permutation(indexes(all)).Draw(t, "row")
		for i := range len(row) - 1 {
			meet(row[i], row[i+1])
		}
		for i := len(row) - 1; i > 0; i-- {
			meet(row[i], row[i-1])
		}
		if len(slices.Compact(slices.Clone(all))) > 1 {
			t.Fatalf("they end with %v", all)
		}
	})
}

func indexes(all []branch) (list []int) {
	for i := range all {
		list = append(list, i)
	}
	return list
}

func TestOnePathWithTwoContentsIsRefused(t *testing.T) {
	w, root := newWorld(t)
	e := eventtest.Signed(eventtest.Note("one"), "laptop")
	put := func(text string) branch {
		blob := gitstore.NewObject(plumbing.BlobObject, []byte(text))
		tree, made, err := gittree.Insert(w, root.tree, commitform.Path(e.ID), blob.Hash)
		if err != nil {
			t.Fatal(err)
		}
		commit := gitstore.NewObject(plumbing.CommitObject, commitform.Event(tree, root.commit, commitform.HeadOf(e)))
		w.Add(append(made, blob, commit)...)
		return branch{commit.Hash, tree}
	}
	a, b := put("one"), put("two")
	g := history.New(w)
	if err := g.Add(a.commit, b.commit); err != nil {
		t.Fatal(err)
	}
	_, err := merge.Heads(w, g, a.commit, b.commit)
	if c, ok := errors.AsType[*gittree.ConflictError](err); !ok || c.Path != commitform.Path(e.ID) {
		t.Fatalf("got %v", err)
	}
}
