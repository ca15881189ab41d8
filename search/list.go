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
// mostly stands later, and what is not among the best costs one comparison.
func (v *view) newest(docs []*roaring.Bitmap, size int) []candidate {
	t := top{view: v, size: size}
	for i := range docs {
		for it := docs[i].ReverseIterator(); it.HasNext(); {
			t.offer(candidate{docRef: docRef{i, it.Next()}})
		}
	}
	return t.sorted()
}
