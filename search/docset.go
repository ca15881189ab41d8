package search

import (
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
)

// A docSet is documents of a part, a bit for each. Asking it costs a fraction
// of joining bitmaps.
type docSet []uint64

func newDocSet(docs int) docSet { return make(docSet, (docs+63)/64) }

func (s docSet) has(doc uint32) bool { return s[doc/64]>>(doc%64)&1 != 0 }

func (s docSet) addAll(docs []uint32) {
	for _, d := range docs {
		s[d/64] |= 1 << (d % 64)
	}
}

func (s docSet) removeAll(docs []uint32) {
	for _, d := range docs {
		s[d/64] &^= 1 << (d % 64)
	}
}

// addList adds the documents of a list; w is what goes over them.
func (s docSet) addList(list docList, w *walk) {
	for docs := range w.overList(list) {
		s.addAll(docs)
	}
}

// addAllBut makes an empty set all documents but those of a bitmap.
func (s docSet) addAllBut(list *roaring.Bitmap) {
	list.WriteDenseTo(s)
	for i := range s {
		s[i] = ^s[i]
	}
}

func (s docSet) clear() { clear(s) }

// countBut is how many documents the set has that other does not have.
func (s docSet) countBut(other docSet) int {
	n := 0
	for i, word := range s {
		n += bits.OnesCount64(word &^ other[i])
	}
	return n
}

// within are the documents of a bitmap that the set has.
func (s docSet) within(b *roaring.Bitmap) *roaring.Bitmap {
	if b.GetCardinality() > uint64(len(s)) {
		return s.withinMany(b)
	}
	out := roaring.New()
	w := walks.Get().(*walk)
	for docs := range w.over(b) {
		kept := docs[:0]
		for _, d := range docs {
			if s.has(d) {
				kept = append(kept, d)
			}
		}
		out.AddMany(kept)
	}
	walks.Put(w)
	return out
}

// withinMany does the same by going over the whole set.
func (s docSet) withinMany(b *roaring.Bitmap) *roaring.Bitmap {
	w := walks.Get().(*walk)
	both := slices.Grow(w.set[:0], len(s))[:len(s)]
	both.clear()
	b.WriteDenseTo(both)
	for i, word := range s {
		both[i] &= word
	}
	out := roaring.FromDense(both, true)
	w.set = both
	walks.Put(w)
	return out
}

// countIn is how many documents of a bitmap the set has.
func (s docSet) countIn(b *roaring.Bitmap) (n uint64) {
	w := walks.Get().(*walk)
	for docs := range w.over(b) {
		for _, d := range docs {
			n += s[d/64] >> (d % 64) & 1
		}
	}
	walks.Put(w)
	return n
}

// add adds the documents of a set that is no larger.
func (s docSet) add(other docSet) {
	for i, word := range other {
		s[i] |= word
	}
}

// A walk goes over the documents of one bitmap after the other. It takes some
// room, so it is used again.
type walk struct {
	at   roaring.ManyIntIterator
	buf  [256]uint32
	set  docSet   // of withinMany and joined
	docs []uint32 // that are to be joined
}

var walks = sync.Pool{New: func() any { return &walk{} }}

// over goes over a bitmap, some documents at a time. They are gone when the next
// ones come.
func (w *walk) over(list *roaring.Bitmap) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		w.at.Initialize(list)
		for n := w.at.NextMany(w.buf[:]); n > 0 && yield(w.buf[:n]); {
			n = w.at.NextMany(w.buf[:])
		}
	}
}
