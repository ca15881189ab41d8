package search

import (
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
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n := 0
	for i, part := range p.view.segs {
		s.fit(part.rows.Len())
		for _, src := range found {
			src.lists[i].addTo(s.chosen, s.buf[:])
		}
		s.toSkip(part, allow[i])
		n += s.chosen.countBut(s.skip)
		s.chosen.clear()
		s.skip.clear()
	}
	return n
}
