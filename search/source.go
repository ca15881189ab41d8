package search

import (
	"github.com/RoaringBitmap/roaring"
)

// A source is the notes that hold one term, or any of several, in every part
// of a view. It adds to the score of those notes unless its weight is 0.
type source struct {
	lists  []*postings // by part
	found  uint64      // notes that are not dead
	weight uint32
	fine   bool // another source has all its notes
	like   like // which words it is of, if of those that are similar to another
}

// docs is the documents of one part, dead ones included. The bitmap is shared
// and must not be changed.
func (s *source) docs(part int) *roaring.Bitmap { return s.lists[part].all() }

// within is docs that are also in b.
func (s *source) within(part int, b *roaring.Bitmap) *roaring.Bitmap { return s.lists[part].within(b) }

func (s *source) contains(part int, doc uint32) bool { return s.lists[part].contains(doc) }

// sourceOf collects the postings that read finds in each part.
func (v *view) sourceOf(read func(*seg) (*postings, error)) (*source, error) {
	s := &source{lists: make([]*postings, len(v.segs))}
	for i, p := range v.segs {
		lists, err := read(p.seg)
		if err != nil {
			return nil, &DamagedError{Dir: v.dir, Err: err}
		}
		s.lists[i] = lists
		s.found += p.countLive(lists)
	}
	return s, nil
}

func (p *part) countLive(lists *postings) uint64 {
	if p.dead == nil {
		return lists.count
	}
	return lists.count - lists.countIn(p.dead)
}

// isWithin says that no note is of one source and not of another.
func (v *view) isWithin(s, other *source) bool {
	for i, p := range v.segs {
		if !p.withoutDead(roaring.AndNot(s.docs(i), other.docs(i))).IsEmpty() {
			return false
		}
	}
	return true
}

func (v *view) term(key string) (*source, error) {
	return v.sourceOf(func(s *seg) (*postings, error) { return s.postings(key) })
}

// union joins bitmaps into a new one. It leaves them as they are, which
// FastOr does not do with a single one: several searches may share it.
func union(lists []*roaring.Bitmap) *roaring.Bitmap {
	if len(lists) == 1 {
		out := roaring.New()
		out.Or(lists[0])
		return out
	}
	return roaring.FastOr(lists...)
}
