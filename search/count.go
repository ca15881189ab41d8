package search

import (
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// total counts the documents that match.
func (p *plan) total(allow []*roaring.Bitmap) (int, error) {
	if p.plainWords() != nil {
		return p.countAny(allow), nil
	}
	matching, err := p.matching(allow)
	n := 0
	for _, docs := range matching {
		n += int(docs.GetCardinality())
	}
	return n, err
}

// countAny counts the documents that some source of a plain question has.
func (p *plan) countAny(allow []*roaring.Bitmap) int {
	var found []*source
	for _, s := range p.sources {
		if s.weight > 0 && !s.fine {
			found = append(found, s)
		}
	}
	if len(found) == 1 && !slices.ContainsFunc(allow, func(b *roaring.Bitmap) bool { return b != nil }) {
		return int(found[0].found)
	}
	n := 0
	for i, part := range p.view.segs {
		n += part.countUnion(i, found, allow[i])
	}
	return n
}

// countUnion marks documents in a set of its own, for that is much faster than
// joining many short bitmaps.
func (p *part) countUnion(number int, sources []*source, allow *roaring.Bitmap) int {
	seen := make([]uint64, len(p.rows.times)/64+1)
	var buf [256]uint32
	for _, s := range sources {
		for _, list := range s.lists[number].all() {
			if allow != nil {
				list = roaring.And(list, allow)
			}
			it := list.ManyIterator()
			for k := it.NextMany(buf[:]); k > 0; k = it.NextMany(buf[:]) {
				for _, doc := range buf[:k] {
					seen[doc/64] |= 1 << (doc % 64)
				}
			}
		}
	}
	n := 0
	for _, word := range seen {
		n += bits.OnesCount64(word)
	}
	return n - p.countDead(seen)
}

func (p *part) countDead(seen []uint64) int {
	n := 0
	if p.dead != nil {
		for it := p.dead.Iterator(); it.HasNext(); {
			doc := it.Next()
			n += int(seen[doc/64] >> (doc % 64) & 1)
		}
	}
	return n
}
