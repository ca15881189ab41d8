package search

import (
	"math/bits"

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

// addList adds the documents of a bitmap; buf is room to work in.
func (s docSet) addList(list *roaring.Bitmap, buf []uint32) {
	it := list.ManyIterator()
	for n := it.NextMany(buf); n > 0; n = it.NextMany(buf) {
		s.addAll(buf[:n])
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
	out := roaring.New()
	var buf, kept [256]uint32
	it := b.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		k := 0
		for _, d := range buf[:n] {
			if s.has(d) {
				kept[k] = d
				k++
			}
		}
		out.AddMany(kept[:k])
	}
	return out
}

// countIn is how many documents of a bitmap the set has.
func (s docSet) countIn(b *roaring.Bitmap) (n uint64) {
	var buf [256]uint32
	it := b.ManyIterator()
	for k := it.NextMany(buf[:]); k > 0; k = it.NextMany(buf[:]) {
		for _, d := range buf[:k] {
			n += s[d/64] >> (d % 64) & 1
		}
	}
	return n
}

// add adds the documents of a set that is no larger.
func (s docSet) add(other docSet) {
	for i, word := range other {
		s[i] |= word
	}
}
