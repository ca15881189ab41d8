package search

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// A scoredList is the documents of one part to which one source adds the same.
type scoredList struct {
	source int
	gain   uint32
	docs   *roaring.Bitmap
}

// any ranks the documents of a part that hold any of the words, except those
// in done. It reads lists in the order of what they add, and as soon as no
// document that has not been seen can be among the best it only completes the
// sums of those that have.
func (r *ranker) any(part int, done *roaring.Bitmap) {
	lists := r.listsOf(part)
	open := newOpenGains(lists, len(r.plan.sources))
	read, check := 0, 0
	for i, l := range lists {
		if read >= check {
			if open.sum < r.reached(r.touched) {
				r.complete(lists[i:], open)
				break
			}
			check = read + max(minPace, len(r.touched)) // looking costs as much as reading did
		}
		read += r.add(r.open(part, l.docs, done), l.gain)
		open.pass(l)
	}
	for _, doc := range slices.Backward(r.touched) { // newest first, so that later ones of equal score are refused at once
		r.top.offer(candidate{docRef{part, doc}, r.sum[doc]})
	}
	r.reset()
}

// minPace is the least number of documents to read before looking whether it
// was enough.
const minPace = 64

// open takes out what is dead, not allowed or done.
func (r *ranker) open(part int, docs, done *roaring.Bitmap) *roaring.Bitmap {
	docs = r.live(part, docs)
	if !done.IsEmpty() {
		docs = roaring.AndNot(docs, done)
	}
	return docs
}

func (r *ranker) listsOf(part int) []scoredList {
	var out []scoredList
	for s, src := range r.plan.sources {
		if src.weight == 0 {
			continue
		}
		for l, docs := range src.lists[part].at {
			if docs != nil {
				out = append(out, scoredList{s, src.weight * level(l).gain(), docs})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b scoredList) int { return cmp.Compare(b.gain, a.gain) })
	return out
}

// pruneEvery is after how many lists complete looks which documents can still
// be among the best.
const pruneEvery = 8

// complete adds the lists that are left to documents that can still be among
// the best.
func (r *ranker) complete(lists []scoredList, open openGains) {
	docs := r.promising(r.touched, open)
	chosen := r.bitmap(docs)
	for i, l := range lists {
		if i%pruneEvery == pruneEvery-1 && len(docs) > r.top.size {
			docs = r.promising(docs, open)
			chosen = r.bitmap(docs)
		}
		r.add(roaring.And(l.docs, chosen), l.gain)
		open.pass(l)
	}
}

// promising are those of docs that can still be among the best.
func (r *ranker) promising(docs []uint32, open openGains) []uint32 {
	need := r.reached(docs)
	var out []uint32
	for _, doc := range docs {
		if r.sum[doc]+open.sum >= need {
			out = append(out, doc)
		}
	}
	return out
}

// reached is a score that the last of the best is sure to have at least.
func (r *ranker) reached(docs []uint32) uint32 {
	need := r.top.floor()
	if len(docs) < r.top.size {
		return need
	}
	sums := make([]uint32, len(docs))
	for i, doc := range docs {
		sums[i] = r.sum[doc]
	}
	return max(need, kth(sums, r.top.size))
}

// kth is the k-th largest of values, which it reorders.
func kth(values []uint32, k int) uint32 {
	lo, hi := 0, len(values)-1
	for lo < hi {
		pivot := values[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for values[i] > pivot {
				i++
			}
			for values[j] < pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return values[k-1]
		}
	}
	return values[k-1]
}

// openGains is how much lists that have not been read can add to a document
// that none of those read holds: of each source at most the next list.
type openGains struct {
	sum  uint32
	next [][]uint32 // by source, what its lists add, least first
}

func newOpenGains(lists []scoredList, sources int) openGains {
	o := openGains{next: make([][]uint32, sources)}
	for _, l := range slices.Backward(lists) {
		o.next[l.source] = append(o.next[l.source], l.gain)
	}
	for _, gains := range o.next {
		if n := len(gains); n > 0 {
			o.sum += gains[n-1]
		}
	}
	return o
}

func (o *openGains) pass(l scoredList) {
	gains := o.next[l.source]
	n := len(gains) - 1
	o.sum -= gains[n]
	if n > 0 {
		o.sum += gains[n-1]
	}
	o.next[l.source] = gains[:n]
}
