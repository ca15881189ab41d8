package search

import (
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring"
	"pgregory.net/rapid"
)

func drawBitmap(t *rapid.T, of int, name string) *roaring.Bitmap {
	most := rapid.SampledFrom([]int{0, 3, 200, of}).Draw(t, "most "+name)
	b := roaring.New()
	for range rapid.IntRange(0, most).Draw(t, name) {
		b.Add(rapid.Uint32Range(0, uint32(of-1)).Draw(t, "doc"))
	}
	return b
}

// Lists are the same documents whether they are numbers or bitmaps, and so are
// those of a term at all levels.
func TestPostingsAreTheSameAsNumbersAndAsBitmaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom([]int{1, 70, 2000, 140_000}).Draw(t, "documents")
		var short, long postings
		short.docs, long.docs = of, of
		all := roaring.New()
		for l := level(3); l < 7; l++ {
			docs := roaring.AndNot(drawBitmap(t, min(of, 3000), "list"), all)
			if docs.IsEmpty() {
				continue
			}
			all.Or(docs)
			few := docList{few: docs.ToArray()}
			short.add(few, l)
			long.add(docList{many: docs}, l)
			if got := slices.Collect(few.backward()); !slices.Equal(got, slices.Collect(docList{many: docs}.backward())) {
				t.Fatalf("backward %d is %d", few.few, got)
			}
			if few.len() != int(docs.GetCardinality()) {
				t.Fatalf("%d has the length %d", few.few, few.len())
			}
		}
		b := drawBitmap(t, of, "other")
		want := roaring.And(all, b)
		for name, p := range map[string]*postings{"numbers": &short, "bitmaps": &long} {
			for _, when := range []string{"before", "after"} {
				if got := p.within(b); !got.Equals(want) {
					t.Fatalf("%s, %s they were joined: %v are within %v, want %v", name, when, got, b, want)
				}
				if got := p.countIn(b); got != want.GetCardinality() {
					t.Fatalf("%s, %s they were joined: %d are within %v, want %v", name, when, got, b, want)
				}
				for _, doc := range append(b.ToArray(), 0) {
					if got := p.contains(doc); got != all.Contains(doc) {
						t.Fatalf("%s, %s they were joined: contains %d is %v", name, when, doc, got)
					}
				}
				set := newDocSet(of)
				p.addTo(set, &walk{})
				if got := roaring.FromDense(set, true); !got.Equals(all) {
					t.Fatalf("%s, %s they were joined: the set is %v, want %v", name, when, got, all)
				}
				if got := p.all(); !got.Equals(all) || p.count != all.GetCardinality() {
					t.Fatalf("%s: %v of %d, want %v", name, got, p.count, all)
				}
			}
		}
	})
}
