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
	touched []uint32 // documents whose sum may be other than zero
	skip    docSet   // documents that add leaves alone; empty between uses
	chosen  docSet   // documents that addChosen adds to; empty between uses
	docs    []uint32 // that are in chosen
	sums    []uint32
	sure    uint32 // a sum that as many documents as there can be best have at least
	lists   []scoredList
	open    openGains
	from    []int // by source, how many documents any was given by its lists
	walk    walk
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func (s *scratch) fit(docs int) {
	if len(s.sum) < docs {
		s.sum = make([]uint32, docs)
		s.skip = newDocSet(docs)
		s.chosen = newDocSet(docs)
	}
}

// add adds gain to all documents of a list that are not to be skipped, and
// says how many those are.
func (s *scratch) add(list docList, gain uint32) (n int) {
	for docs := range s.walk.overList(list) {
		for _, d := range docs {
			if s.skip.has(d) {
				continue
			}
			n++
			if s.sum[d] == 0 {
				s.touched = append(s.touched, d)
			}
			s.sum[d] += gain
		}
	}
	return n
}

// toSkip has add leave alone what is dead or not allowed.
func (s *scratch) toSkip(p *part, allow *roaring.Bitmap) {
	if allow != nil {
		s.skip.addAllBut(allow)
	}
	if p.dead != nil {
		s.skip.addList(docList{many: p.dead}, &s.walk)
	}
}

// seekCost is about how many documents of a list can be read in the time of
// looking up one.
const seekCost = 32

// addChosen adds gain to the chosen documents of a list.
func (s *scratch) addChosen(list docList, gain uint32) {
	if len(s.docs)*seekCost < list.len() {
		for _, d := range s.docs {
			if list.has(d) {
				s.sum[d] += gain
			}
		}
		return
	}
	for docs := range s.walk.overList(list) {
		for _, d := range docs {
			if s.chosen.has(d) {
				s.sum[d] += gain
			}
		}
	}
}

// choose has addChosen add to docs, which it keeps.
func (s *scratch) choose(docs []uint32) {
	s.chosen.removeAll(s.docs)
	s.docs = docs
	s.chosen.addAll(docs)
}

func (s *scratch) reset() {
	s.choose(s.docs[:0])
	for _, d := range s.touched {
		s.sum[d] = 0
	}
	s.touched = s.touched[:0]
	s.sure = 0
}

func newRanker(p *plan, allow []*roaring.Bitmap, size int) *ranker {
	s := scratches.Get().(*scratch)
	for _, part := range p.view.segs {
		s.fit(part.rows.Len())
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
	for i, found := range matching {
		docs := found.ToArray()
		r.score(i, docs)
		for _, doc := range docs {
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
	if slices.ContainsFunc(words, func(w *word) bool { return !r.plan.mayHold(part, w) }) {
		return roaring.New()
	}
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
	if docs.IsEmpty() {
		return
	}
	lists := r.byGain(part)
	r.open.fill(lists, len(r.plan.sources))
	r.touched = append(r.touched, docs.ToArray()...)
	r.offer(part, r.complete(lists, bonus), bonus)
}

// offer lets documents be among the best, newest first, so that later ones of
// equal score are refused at once.
func (r *ranker) offer(part int, docs []uint32, bonus uint32) {
	for _, doc := range slices.Backward(docs) {
		r.top.offer(candidate{docRef{part, doc}, r.sum[doc] + bonus})
	}
	r.reset()
}

// score adds up what all sources say of the documents of docs.
func (r *ranker) score(part int, docs []uint32) {
	r.touched = append(r.touched, docs...)
	r.choose(append(r.docs, docs...))
	for _, l := range r.listsOf(part) {
		r.addChosen(l.docs, l.gain)
	}
}
