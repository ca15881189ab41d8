package search

import (
	"slices"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring"
)

// postings are the notes of a segment that hold a term, by level. A note has a
// term at one level only.
type postings struct {
	lists []levelList // none of them empty, the best first
	count uint64      // dead ones included
	docs  int         // of the segment

	whole atomic.Pointer[roaring.Bitmap] // all levels; nil until all was called
	inAll atomic.Pointer[docSet]         // the same; nil until set was called
}

// A levelList is the notes that have a term at a level.
type levelList struct {
	docList
	level level
}

var noPostings = &postings{}

// add adds a list, which is of no higher a level than those before it.
func (p *postings) add(l docList, of level) {
	p.lists = append(p.lists, levelList{l, of})
	p.count += uint64(l.len())
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
	for _, list := range p.lists {
		s.addList(list.docList, w)
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
	for _, list := range p.lists {
		if list.many != nil {
			out.Or(roaring.And(list.many, b))
			continue
		}
		for doc := range list.fewIn(b) {
			out.Add(doc)
		}
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
	return slices.ContainsFunc(p.lists, func(list levelList) bool { return list.has(doc) })
}

// countIn is how many of the documents are in b.
func (p *postings) countIn(b *roaring.Bitmap) uint64 {
	if set := p.set(); set != nil {
		return set.countIn(b)
	}
	n := uint64(0)
	for _, list := range p.lists {
		if list.many != nil {
			n += list.many.AndCardinality(b)
			continue
		}
		for range list.fewIn(b) {
			n++
		}
	}
	return n
}

// addTo adds the documents to a set; w is what goes over them.
func (p *postings) addTo(s docSet, w *walk) {
	if set := p.set(); set != nil {
		s.add(set)
		return
	}
	for _, list := range p.lists {
		s.addList(list.docList, w)
	}
}

// all are the documents at any level. The bitmap is shared and must not be
// changed.
func (p *postings) all() *roaring.Bitmap {
	if whole := p.whole.Load(); whole != nil {
		return whole
	}
	whole := p.joined()
	p.whole.Store(whole)
	return whole
}

// joined makes one bitmap of all levels.
func (p *postings) joined() *roaring.Bitmap {
	if len(p.lists) == 1 && p.lists[0].many != nil {
		return p.lists[0].many
	}
	if set := p.set(); set != nil {
		return roaring.FromDense(set, true)
	}
	w := walks.Get().(*walk)
	defer walks.Put(w)
	docs := w.docs[:0]
	for _, list := range p.lists {
		for some := range w.overList(list.docList) {
			docs = append(docs, some...)
		}
	}
	w.docs = docs
	return bitmapOf(docs, p.docs, w)
}

// sparse is how many times as many documents there are as are joined for it to be
// quicker to put those in order than to go over a bit of each.
const sparse = 64

// bitmapOf makes a bitmap of documents in any order, which it changes; of is how
// many there are in the segment.
func bitmapOf(docs []uint32, of int, w *walk) *roaring.Bitmap {
	if len(docs) < of/sparse {
		slices.Sort(docs)
		return roaring.BitmapOf(docs...)
	}
	set := docSet(slices.Grow(w.set[:0], (of+63)/64)[:(of+63)/64])
	set.clear()
	set.addAll(docs)
	w.set = set
	return roaring.FromDense(set, true)
}
