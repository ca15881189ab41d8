package search

import (
	"context"

	"github.com/RoaringBitmap/roaring"
)

// newest takes the newest of the documents that are allowed, until enough of
// them are hits.
func (s *sieve) newest(ctx context.Context, allow []*roaring.Bitmap) (Result, error) {
	view := s.plan.view
	docs := make([]*roaring.Bitmap, len(view.segs))
	var out Result
	for i, part := range view.segs {
		docs[i] = part.withoutDead(roaring.And(part.notes(), allow[i])) // a list always has limits
		out.Total += int(docs[i].GetCardinality())
	}
	for size := s.limit; ; size *= widening {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		candidates := view.newest(docs, size)
		out.Hits = s.take(candidates)
		if len(out.Hits) == s.limit || len(candidates) < size {
			return out, nil
		}
	}
}

// take is the first candidates that are hits, as many as are wanted.
func (s *sieve) take(candidates []candidate) []Hit {
	var out []Hit
	for _, c := range candidates {
		if len(out) < s.limit && s.keeps(c) {
			out = append(out, s.hit(c))
		}
	}
	return out
}

// newest are the size newest of docs. In a segment what was recorded later
// mostly stands later, and what is clearly older than those at hand costs one
// comparison of numbers.
func (v *view) newest(docs []*roaring.Bitmap, size int) []candidate {
	t := top{view: v, size: size}
	for i, part := range v.segs {
		for it := docs[i].ReverseIterator(); it.HasNext(); {
			if doc := it.Next(); part.rows.Start(doc) >= t.leastAge() {
				t.offer(candidate{docRef: docRef{i, doc}})
			}
		}
	}
	return t.sorted()
}

// leastAge is the age of the last of the best; 0 as long as there is room.
func (t *top) leastAge() uint64 {
	if t.isWide() || len(t.list) < t.size {
		return 0
	}
	last := t.list[t.size-1]
	return t.view.segs[last.part].rows.Start(last.doc)
}
