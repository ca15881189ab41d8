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
	s := scratches.Get().(*scratch) // it goes back only if nothing panicked, and so is empty
	n := 0
	for i, part := range p.view.segs {
		s.fit(part.rows.Len())
		n += s.countUnion(part, i, found, allow[i])
	}
	scratches.Put(s)
	return n
}

// countUnion counts the documents of a part that some source has.
func (s *scratch) countUnion(p *part, number int, sources []*source, allow *roaring.Bitmap) int {
	entries := uint64(0)
	for _, src := range sources {
		entries += src.lists[number].count
	}
	if entries < uint64(len(s.chosen)) { // fewer than there are words of the set
		return s.countFew(p, number, sources, allow)
	}
	for _, src := range sources {
		src.lists[number].addTo(s.chosen, &s.walk)
	}
	s.toSkip(p, allow)
	n := s.chosen.countBut(s.skip)
	s.chosen.clear()
	s.skip.clear()
	return n
}

// countFew does the same without going over the whole set.
func (s *scratch) countFew(p *part, number int, sources []*source, allow *roaring.Bitmap) (n int) {
	for _, src := range sources {
		for _, list := range src.lists[number].lists {
			s.collect(list.docList)
		}
	}
	n = len(s.docs)
	if p.dead != nil || allow != nil {
		n = 0
		for _, doc := range s.docs {
			if !p.isDead(doc) && (allow == nil || allow.Contains(doc)) {
				n++
			}
		}
	}
	s.reset()
	return n
}

// collect chooses the documents of a list too.
func (s *scratch) collect(list docList) {
	for docs := range s.walk.overList(list) {
		for _, doc := range docs {
			if !s.chosen.has(doc) {
				s.docs = append(s.docs, doc)
				s.chosen[doc/64] |= 1 << (doc % 64)
			}
		}
	}
}
