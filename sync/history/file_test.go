package history_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	commitgraph "github.com/go-git/go-git/v5/plumbing/format/commitgraph/v2"
	"pgregory.net/rapid"

	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

// A repository is a store with a commit-graph file beside it.
type repository struct {
	*gittreetest.Store
	file []byte
	err  error
}

func (r repository) CommitGraph() ([]byte, error) { return r.file, r.err }

// fileOf is the commit-graph of the tips.
func fileOf(t fataler, g *history.Graph, tips ...plumbing.Hash) []byte {
	var b bytes.Buffer
	if err := g.Encode(&b, tips...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type fataler interface{ Fatal(...any) }

// chain is a history of n commits with a merge now and then, and its tip.
func chain(s *gittreetest.Store, n int) plumbing.Hash {
	tips := []plumbing.Hash{s.Commit(s.Tree(nil), 0)}
	for i := range n - 1 {
		parents := tips[i : i+1 : i+1]
		if i%5 == 4 {
			parents = append(parents, tips[i-3])
		}
		tree := s.Tree(map[string]string{"file": fmt.Sprint(i)})
		tips = append(tips, s.Commit(tree, int64(1<<33-i), parents...))
	}
	return tips[n-1]
}

func TestAGraphFromAFileAnswersLikeOneFromCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dags().Filter(dag.twoParents).Draw(t, "dag")
		g := d.graph(t)
		saved := d.some(t, "saved")
		f := history.Open(repository{Store: d.store, file: fileOf(t, g, saved...)})
		if err := f.Add(d.commits...); err != nil {
			t.Fatal(err)
		}
		if want := len(d.commits) - len(d.history(saved...)); f.Unsaved() != want || f.Len() != len(d.commits) {
			t.Fatalf("%d of %d commits did not come from the file, want %d", f.Unsaved(), f.Len(), want)
		}
		sameAnswers(t, d, g, f)
		sameAnswers(t, d, g, f.Fork(d.store))
		if again := fileOf(t, f, saved...); !bytes.Equal(again, fileOf(t, g, saved...)) {
			t.Fatal("the file differs when it is made from a file")
		}
	})
}

// twoParents says whether no commit has more.
func (d dag) twoParents() bool {
	return !slices.ContainsFunc(d.commits, func(h plumbing.Hash) bool {
		c, err := history.ReadCommit(d.store, h)
		return err != nil || len(c.Parents) > 2
	})
}

func sameAnswers(t *rapid.T, d dag, g, f *history.Graph) {
	for _, h := range d.commits {
		a, errA := g.Tree(h)
		b, errB := f.Tree(h)
		p, errP := g.Parents(h)
		q, errQ := f.Parents(h)
		if err := errors.Join(errA, errB, errP, errQ); err != nil || a != b || !slices.Equal(p, q) {
			t.Fatalf("commit %s: tree %s and %s, parents %v and %v, %v", h, a, b, p, q, err)
		}
		for _, o := range d.commits {
			if got, err := f.Ancestor(o, h); err != nil || got != d.above[h][o] {
				t.Fatalf("%s in the history of %s: %v, %v", o, h, got, err)
			}
		}
	}
	wants, haves := d.some(t, "wants"), d.some(t, "haves")
	a, errA := g.Between(wants, haves)
	b, errB := f.Between(wants, haves)
	slices.SortFunc(a, compareIDs)
	slices.SortFunc(b, compareIDs)
	if errA != nil || errB != nil || !slices.Equal(a, b) {
		t.Fatalf("between are %v and %v, %v, %v", a, b, errA, errB)
	}
}

func compareIDs(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) }

func TestOpeningALongHistoryReadsNoCommitsButTheNewOnes(t *testing.T) {
	s := gittreetest.New()
	tip := chain(s, 3000)
	g := history.New(s)
	if err := g.Add(tip); err != nil {
		t.Fatal(err)
	}
	r := repository{Store: s, file: fileOf(t, g, tip)}
	next := s.Commit(s.Tree(nil), 5, tip)
	before := s.Reads()
	f := history.Open(r)
	if err := f.Add(next); err != nil || f.Len() != 3001 {
		t.Fatalf("%d commits, %v", f.Len(), err)
	}
	if reads := s.Reads() - before; reads > 3 { // the new one, and two to compare the file with
		t.Errorf("%d commits were read", reads)
	}
}

// Whatever is wrong with a file, the commits are read instead.
func TestABadFileIsPassedOver(t *testing.T) {
	s := gittreetest.New()
	tip := chain(s, 50)
	g := history.New(s)
	if err := g.Add(tip); err != nil {
		t.Fatal(err)
	}
	good := fileOf(t, g, tip)
	foreign := gittreetest.New()
	other := history.New(foreign)
	if err := other.Add(chain(foreign, 60)); err != nil {
		t.Fatal(err)
	}
	lone := foreign.Commit(foreign.Tree(nil), 77)
	if err := other.Add(lone); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]repository{
		"none":              {},
		"unreadable":        {err: errors.New("cannot be read")},
		"of other commits":  {file: fileOf(t, other, lone)},
		"empty":             {file: make([]byte, 0)},
		"cut off":           {file: good[:len(good)-30]},
		"a wrong byte":      {file: changed(good, 1500)},
		"a wrong tree":      {file: resummed(changed(good, len(good)-21-15))},
		"another version":   {file: resummed(changed(good, 4))},
		"one of a chain":    {file: resummed(changed(good, 7))},
		"a wild chunk":      {file: resummed(changed(good, 8+4))},
		"a wrong fan-out":   {file: resummed(changed(good, 8+4*12+40))},
		"an id too many":    {file: resummed(changed(good, 8+12+11))},
		"a wrong parent":    {file: resummed(changed(good, len(good)-20-16+1))},
		"no generations":    {file: resummed(zeroed(good, len(good)-20-8, 4))},
		"a wild generation": {file: resummed(changed(good, len(good)-20-8))},
	} {
		t.Run(name, func(t *testing.T) {
			r.Store = s
			f := history.Open(r)
			if err := f.Add(tip); err != nil || f.Len() != 50 || f.Unsaved() != 50 {
				t.Errorf("%d commits, %d of them read, %v", f.Len(), f.Unsaved(), err)
			}
		})
	}
	f := history.Open(repository{Store: s, file: good})
	if err := f.Add(tip); err != nil || f.Unsaved() != 0 {
		t.Errorf("the good file was passed over: %d, %v", f.Unsaved(), err)
	}
}

func changed(file []byte, at int) []byte {
	b := slices.Clone(file)
	b[at] ^= 0x40
	return b
}

func zeroed(file []byte, at, n int) []byte {
	b := slices.Clone(file)
	clear(b[at : at+n])
	return b
}

// resummed makes the checksum of a spoiled file right.
func resummed(b []byte) []byte {
	end := len(b) - sha1.Size
	sum := sha1.Sum(b[:end])
	return append(b[:end:end], sum[:]...)
}

// go-git reads what we write.
func TestGoGitReadsOurFile(t *testing.T) {
	s := gittreetest.New()
	tip := chain(s, 200)
	g := history.New(s)
	if err := g.Add(tip); err != nil {
		t.Fatal(err)
	}
	index, err := commitgraph.OpenFileIndex(readerAtCloser{bytes.NewReader(fileOf(t, g, tip))})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range index.Hashes() {
		at, err := index.GetIndexByHash(h)
		if err != nil {
			t.Fatal(err)
		}
		data, err := index.GetCommitDataByIndex(at)
		if err != nil {
			t.Fatal(err)
		}
		c, err := history.ReadCommit(s, h)
		if err != nil || data.TreeHash != c.Tree || !slices.Equal(data.ParentHashes, c.Parents) || data.When.Unix() != c.Seconds {
			t.Fatalf("commit %s: %+v, want %+v, %v", h, data, c, err)
		}
	}
	if len(index.Hashes()) != 200 {
		t.Errorf("%d commits", len(index.Hashes()))
	}
}

type readerAtCloser struct{ *bytes.Reader }

func (readerAtCloser) Close() error { return nil }

func TestWhatDoesNotFitIntoAFileIsSaid(t *testing.T) {
	s := gittreetest.New()
	root := s.Commit(s.Tree(nil), 1)
	late := s.Commit(s.Tree(nil), 1<<34, root)
	many := s.Commit(s.Tree(nil), 5, root, s.Commit(s.Tree(nil), 2), s.Commit(s.Tree(nil), 3))
	g := history.New(s)
	if err := g.Add(late, many); err != nil {
		t.Fatal(err)
	}
	for _, tip := range []plumbing.Hash{late, many} {
		if err := g.Encode(new(bytes.Buffer), tip); !errors.Is(err, history.ErrUnfit) {
			t.Errorf("tip %s: %v", tip, err)
		}
	}
	if err := g.Encode(new(bytes.Buffer), plumbing.NewHash(idA)); err == nil {
		t.Error("a tip that is not known went unnoticed")
	}
}

func FuzzCommitGraphFile(f *testing.F) {
	s := gittreetest.New()
	tip := chain(s, 12)
	g := history.New(s)
	if err := g.Add(tip); err != nil {
		f.Fatal(err)
	}
	f.Add(fileOf(f, g, tip))
	f.Add([]byte("CGPH\x01\x01\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > sha1.Size {
			raw = resummed(raw) // or the checksum would keep everything out
		}
		r := repository{Store: s, file: raw}
		got := history.Open(r)
		if err := got.Add(tip); err != nil {
			t.Fatal(err)
		}
		if in, err := got.Ancestor(tip, tip); !in || err != nil || got.Len() < 12 {
			t.Fatalf("%d commits, %v", got.Len(), err)
		}
	})
}
