package search

import (
	"slices"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring"
)

// postings are the notes of a segment that hold a term, by level. A note has a
// term at one level only. The bitmaps are shared and must not be changed.
type postings struct {
	at    [levels]*roaring.Bitmap // nil for none
	count uint64                  // dead ones included
	docs  int                     // of the segment

	whole atomic.Pointer[roaring.Bitmap] // all levels; nil until all was called
	inAll atomic.Pointer[docSet]         // the same; nil until set was called
}

var noPostings = &postings{}

// lists are those that are not empty, best first.
func (p *postings) lists() []*roaring.Bitmap {
	out := make([]*roaring.Bitmap, 0, levels)
	for l := levels - 1; l >= 0; l-- {
		if p.at[l] != nil {
			out = append(out, p.at[l])
		}
	}
	return out
}

// commonShare is the share of the documents that a term is in whose set takes
// hardly more room than its lists.
const commonShare = 1.0 / 32

// set is the documents at any level if they are many, and otherwise nil. It is
// shared and must not be changed.
func (p *postings) set() docSet {
	if p.count == 0 || float64(p.count) < commonShare*float64(p.docs) {
		return nil
	}
	if known := p.inAll.Load(); known != nil {
		return *known
	}
	s := newDocSet(p.docs)
	w := walks.Get().(*walk)
	for _, list := range p.lists() {
		s.addList(list, w)
	}
	walks.Put(w)
	p.inAll.Store(&s)
	return s
}

// within are the documents that are also in b. As long as nobody has asked for
// all, a short b is compared with each level.
func (p *postings) within(b *roaring.Bitmap) *roaring.Bitmap {
	if set := p.set(); set != nil {
		return set.within(b)
	}
	if p.whole.Load() != nil || b.GetCardinality()*levels > p.count {
		return roaring.And(p.all(), b)
	}
	out := roaring.New()
	for _, list := range p.lists() {
		out.Or(roaring.And(list, b))
	}
	return out
}

func (p *postings) contains(doc uint32) bool {
	if set := p.set(); set != nil {
		return set.has(doc)
	}
	if whole := p.whole.Load(); whole != nil {
		return whole.Contains(doc)
	}
	return slices.ContainsFunc(p.lists(), func(list *roaring.Bitmap) bool { return list.Contains(doc) })
}

// countIn is how many of the documents are in b.
func (p *postings) countIn(b *roaring.Bitmap) uint64 {
	if set := p.set(); set != nil {
		return set.countIn(b)
	}
	n := uint64(0)
	for _, list := range p.lists() {
		n += list.AndCardinality(b)
	}
	return n
}

// addTo adds the documents to a set; w is what goes over them.
func (p *postings) addTo(s docSet, w *walk) {
	if set := p.set(); set != nil {
		s.add(set)
		return
	}
	for _, list := range p.lists() {
		s.addList(list, w)
	}
}

// all are the documents at any level. The bitmap is shared and must not be
// changed.
func (p *postings) all() *roaring.Bitmap {
	if whole := p.whole.Load(); whole != nil {
		return whole
	}
	lists := p.lists()
	if len(lists) == 1 {
		return lists[0]
	}
	var whole *roaring.Bitmap
	if set := p.set(); set != nil {
		whole = roaring.FromDense(set, true)
	} else {
		whole = union(lists)
	}
	p.whole.Store(whole)
	return whole
}
