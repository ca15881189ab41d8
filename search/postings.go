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

	whole atomic.Pointer[roaring.Bitmap] // all levels; nil until docs was called
}

var noPostings = &postings{}

// all are the lists that are not empty, best first.
func (p *postings) all() []*roaring.Bitmap {
	out := make([]*roaring.Bitmap, 0, levels)
	for l := levels - 1; l >= 0; l-- {
		if p.at[l] != nil {
			out = append(out, p.at[l])
		}
	}
	return out
}

// within are the documents that are also in b. As long as nobody has asked for
// all, a short b is compared with each level.
func (p *postings) within(b *roaring.Bitmap) *roaring.Bitmap {
	if p.whole.Load() != nil || b.GetCardinality()*levels > p.count {
		return roaring.And(p.docs(), b)
	}
	out := roaring.New()
	for _, list := range p.all() {
		out.Or(roaring.And(list, b))
	}
	return out
}

func (p *postings) contains(doc uint32) bool {
	if whole := p.whole.Load(); whole != nil {
		return whole.Contains(doc)
	}
	return slices.ContainsFunc(p.all(), func(list *roaring.Bitmap) bool { return list.Contains(doc) })
}

// docs are the documents at any level. The bitmap is shared and must not be
// changed.
func (p *postings) docs() *roaring.Bitmap {
	if whole := p.whole.Load(); whole != nil {
		return whole
	}
	lists := p.all()
	if len(lists) == 1 {
		return lists[0]
	}
	whole := union(lists)
	p.whole.Store(whole)
	return whole
}
