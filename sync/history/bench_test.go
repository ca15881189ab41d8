package history_test

import (
	"runtime"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gittree/gittreetest"
	"cairn/sync/history"
)

// long returns a graph of a hundred thousand commits with a merge now and then, some of them in order.
func long(b *testing.B) (*gittreetest.Store, *history.Graph, []plumbing.Hash) {
	s := gittreetest.New()
	tree := s.Tree(nil)
	tips := []plumbing.Hash{s.Commit(tree, 0)}
	for i := range 100_000 {
		parents := tips[i : i+1 : i+1]
		if i%50 == 49 {
			parents = append(parents, tips[i-20])
		}
		tips = append(tips, s.Commit(tree, int64(-i), parents...))
	}
	g := history.New(s)
	if err := g.Add(tips[len(tips)-1]); err != nil {
		b.Fatal(err)
	}
	return s, g, tips
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkGraphOf100k(b *testing.B) {
	s, g, tips := long(b)
	tip := tips[len(tips)-1]
	for b.Loop() {
		g = history.New(s)
		if err := g.Add(tip); err != nil {
			b.Fatal(err)
		}
	}
	with := heap()
	runtime.KeepAlive(g)
	g = nil
	b.ReportMetric(float64(with-heap())/1e6, "MB")
	runtime.KeepAlive(s)
}

func BenchmarkForkAddAndAncestorAt100k(b *testing.B) {
	s, g, tips := long(b)
	tip := tips[len(tips)-1]
	next := s.Commit(s.Tree(nil), 1, tip)
	for b.Loop() {
		f := g.Fork(s)
		if err := f.Add(next); err != nil {
			b.Fatal(err)
		}
		if in, err := f.Ancestor(tip, next); !in || err != nil {
			b.Fatal(in, err)
		}
	}
}

func BenchmarkBetweenAt100k(b *testing.B) {
	_, g, tips := long(b)
	n := len(tips) - 1
	for name, from := range map[string]int{"one": n - 1, "thousand": n - 1000, "all": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Between(tips[n:], tips[from:from+1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSampleAt100k(b *testing.B) {
	_, g, tips := long(b)
	for b.Loop() {
		if got := g.Sample(tips[len(tips)-1:], 64); len(got) == 0 {
			b.Fatal("no sample")
		}
	}
}
