package search

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
)

// A ranker finds the best documents of a plan.
type ranker struct {
	plan  *plan
	allow []*roaring.Bitmap // by part; nil for all that are not dead
	top   top
	*scratch
}

// A scratch adds up the scores of the documents of one part.
type scratch struct {
	sum     []uint32 // by document; all zero between uses
	touched []uint32 // documents whose sum is not zero
	dense   []uint64 // a bit for each document; all zero between uses
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) fit(docs int) {
	if len(s.sum) < docs {
		s.sum = make([]uint32, docs)
		s.dense = make([]uint64, docs/64+1)
	}
}

// bitmap is the bitmap of docs, which are in any order.
func (s *scratch) bitmap(docs []uint32) *roaring.Bitmap {
	for _, doc := range docs {
		s.dense[doc/64] |= 1 << (doc % 64)
	}
	out := roaring.FromDense(s.dense, true)
	clear(s.dense)
	return out
}

func (s *scratch) add(docs *roaring.Bitmap, gain uint32) int {
	var buf [256]uint32
	n := 0
	it := docs.ManyIterator()
	for k := it.NextMany(buf[:]); k > 0; k = it.NextMany(buf[:]) {
		for _, d := range buf[:k] {
			if s.sum[d] == 0 {
				s.touched = append(s.touched, d)
			}
			s.sum[d] += gain
		}
		n += k
	}
	return n
}

func (s *scratch) reset() {
	for _, d := range s.touched {
		s.sum[d] = 0
	}
	s.touched = s.touched[:0]
}

func newRanker(p *plan, allow []*roaring.Bitmap, size int) *ranker {
	s := scratches.Get().(*scratch)
	for _, part := range p.view.segs {
		s.fit(len(part.rows.times))
	}
	return &ranker{plan: p, allow: allow, top: top{view: p.view, size: size}, scratch: s}
}

// best returns the size best documents of a plain query, best first.
func (p *plan) best(words []*word, allow []*roaring.Bitmap, size int) ([]candidate, error) {
	r := newRanker(p, allow, size)
	r.plain(words)
	scratches.Put(r.scratch)
	list := r.top.sorted()
	return list, p.reorder(words, list)
}

// all returns every document that a query with structure matches.
func (p *plan) all(allow []*roaring.Bitmap) (*ranking, error) {
	matching, err := p.matching(allow)
	if err != nil {
		return nil, err
	}
	r := newRanker(p, allow, 0)
	list := &ranking{view: p.view}
	for i, docs := range matching {
		r.score(i, docs)
		for it := docs.Iterator(); it.HasNext(); {
			doc := it.Next()
			list.all = append(list.all, candidate{docRef{i, doc}, r.sum[doc]})
		}
		r.reset()
	}
	scratches.Put(r.scratch)
	heap.Init(list)
	return list, nil
}

// plainWords are the words of a query that is nothing but words.
func (p *plan) plainWords() []*word {
	if len(p.either) != 1 || len(p.either[0].must) > 0 || len(p.either[0].not) > 0 {
		return nil
	}
	return p.either[0].want
}

// plain ranks documents that hold all the words, and then, if those do not
// fill the list, documents that hold some.
func (r *ranker) plain(words []*word) {
	all := make([]*roaring.Bitmap, len(r.plan.view.segs))
	for i := range r.plan.view.segs {
		all[i] = roaring.New()
		if len(words) > 1 || len(words[0].parts) > 1 {
			all[i] = r.live(i, r.holdingAll(i, words))
			r.within(i, all[i], allWords)
		}
	}
	if r.top.floor() >= allWords {
		return
	}
	for i := range r.plan.view.segs {
		r.any(i, all[i])
	}
}

// holdingAll are the documents of a part that hold every word, found from the
// rarest word on.
func (r *ranker) holdingAll(part int, words []*word) *roaring.Bitmap {
	order := slices.Clone(words)
	slices.SortFunc(order, func(a, b *word) int { return cmp.Compare(b.weight, a.weight) })
	var out *roaring.Bitmap
	for _, w := range order {
		if out == nil {
			out = r.plan.wordDocs(part, w)
		} else {
			out = r.plan.wordWithin(part, w, out)
		}
		if out.IsEmpty() {
			break
		}
	}
	return out
}

// live takes out what is dead or not allowed.
func (r *ranker) live(part int, docs *roaring.Bitmap) *roaring.Bitmap {
	if a := r.allow[part]; a != nil {
		docs = roaring.And(docs, a)
	}
	return r.plan.view.segs[part].withoutDead(docs)
}

// within ranks exactly the documents of docs; bonus is added to each score.
func (r *ranker) within(part int, docs *roaring.Bitmap, bonus uint32) {
	r.score(part, docs)
	for it := docs.ReverseIterator(); it.HasNext(); { // newest first, as in any
		doc := it.Next()
		r.top.offer(candidate{docRef{part, doc}, r.sum[doc] + bonus})
	}
	r.reset()
}

// score adds up what all sources say of the documents of docs.
func (r *ranker) score(part int, docs *roaring.Bitmap) {
	if docs.IsEmpty() {
		return
	}
	for _, src := range r.plan.sources {
		if src.weight == 0 {
			continue
		}
		for l, list := range src.lists[part].at {
			if list != nil {
				r.add(roaring.And(list, docs), src.weight*level(l).gain())
			}
		}
	}
}
