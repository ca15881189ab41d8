package search

import (
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// A docList is documents of a part, in order: few as their numbers, many as a
// bitmap, which may lie in the file. It must not be changed.
type docList struct {
	few  []uint32
	many *roaring.Bitmap // nil for few
}

func (l docList) len() int {
	if l.many != nil {
		return int(l.many.GetCardinality())
	}
	return len(l.few)
}

func (l docList) has(doc uint32) bool {
	if l.many != nil {
		return l.many.Contains(doc)
	}
	_, found := slices.BinarySearch(l.few, doc)
	return found
}

// fewIn goes over the documents of few that are also in b.
func (l docList) fewIn(b *roaring.Bitmap) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if uint64(len(l.few)) < b.GetCardinality() {
			for _, doc := range l.few {
				if b.Contains(doc) && !yield(doc) {
					return
				}
			}
			return
		}
		left := l.few
		for it := b.Iterator(); it.HasNext() && len(left) > 0; {
			doc := it.Next()
			at, found := slices.BinarySearch(left, doc)
			if found && !yield(doc) {
				return
			}
			left = left[at:]
		}
	}
}

// backward goes over the documents, the last one first.
func (l docList) backward() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, doc := range slices.Backward(l.few) {
			if !yield(doc) {
				return
			}
		}
		if l.many == nil {
			return
		}
		for it := l.many.ReverseIterator(); it.HasNext(); {
			if !yield(it.Next()) {
				return
			}
		}
	}
}

// overList goes over a list, some documents at a time. They are gone when the next
// ones come, and must not be changed.
func (w *walk) overList(l docList) iter.Seq[[]uint32] {
	if l.many != nil {
		return w.over(l.many)
	}
	return func(yield func([]uint32) bool) { yield(l.few) }
}
