package search

import (
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring"
)

// Whichever way a set takes, for few documents or many, it is that of joining
// bitmaps.
func TestASetIsWithinABitmapWhatBothHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, docs := range []int{1, 64, 1000, 70_000, 140_001} {
		for _, share := range []float64{0, 0.001, 0.2, 1} {
			set, sameAsSet, b := newDocSet(docs), roaring.New(), roaring.New()
			for doc := range uint32(docs) {
				if r.Float64() < 0.3 {
					set.addAll([]uint32{doc})
					sameAsSet.Add(doc)
				}
				if r.Float64() < share {
					b.Add(doc)
				}
			}
			want := roaring.And(sameAsSet, b)
			if got := set.within(b); !got.Equals(want) {
				t.Errorf("%d documents, %v of them in the bitmap: %d in both, want %d", docs, share, got.GetCardinality(), want.GetCardinality())
			}
			if got := set.countIn(b); got != want.GetCardinality() {
				t.Errorf("%d documents, %v of them in the bitmap: %d counted, want %d", docs, share, got, want.GetCardinality())
			}
		}
	}
}
