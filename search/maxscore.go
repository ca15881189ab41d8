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
	docs   docList
}

// any ranks the documents of a part that hold any of the words, except those
// in done. It reads lists in the order of what they add, and as soon as no
// document that has not been seen can be among the best it only completes the
// sums of those that have.
func (r *ranker) any(part int, done *roaring.Bitmap) {
	lists := r.byGain(part)
	r.toSkip(r.plan.view.segs[part], r.allow[part])
	r.skip.addList(docList{many: done}, &r.walk)
	defer r.skip.clear()
	if lead, ok := r.leading(part); ok {
		r.led(part, lists, lead)
		return
	}
	r.open.fill(lists, len(r.plan.sources))
	r.from = slices.Grow(r.from[:0], len(r.plan.sources))[:len(r.plan.sources)]
	clear(r.from)
	read, check := 0, 0
	for i, l := range lists {
		if read >= check {
			if r.open.sum < r.reached(r.touched, 0) {
				r.offer(part, r.complete(r.unfinished(lists[i:]), 0), 0)
				return
			}
			check = read + max(minPace, len(r.touched)) // looking costs as much as reading did
		}
		n := r.add(l.docs, l.gain)
		r.from[l.source] += n
		read += n
		r.open.pass(l)
	}
	r.offer(part, r.touched, 0)
}

// minPace is the least number of documents to read before looking whether it
// was enough.
const minPace = 64

// unfinished are the lists, but for those of sources that have had a list for
// every document touched: there is one at most for each.
func (r *ranker) unfinished(lists []scoredList) []scoredList {
	out := lists[:0]
	for _, l := range lists {
		if r.from[l.source] == len(r.touched) {
			r.open.pass(l)
		} else {
			out = append(out, l)
		}
	}
	return out
}

// byGain are the lists of a part in the order of what they add, most first.
func (r *ranker) byGain(part int) []scoredList {
	out := r.listsOf(part)
	slices.SortStableFunc(out, func(a, b scoredList) int { return cmp.Compare(b.gain, a.gain) })
	return out
}

// listsOf are the lists of a part. They are gone at the next call.
func (r *ranker) listsOf(part int) []scoredList {
	out := r.lists[:0]
	for s, src := range r.plan.sources {
		if src.weight == 0 {
			continue
		}
		for _, l := range src.lists[part].lists {
			out = append(out, scoredList{s, src.weight * l.level.gain(), l.docList})
		}
	}
	r.lists = out
	return out
}

// pruneAfter is after how many documents read, for each that can still be among
// the best, complete looks which can.
const pruneAfter = 4

// complete adds the lists that are left to documents that can still be among
// the best, and returns those that are not out of it by then.
func (r *ranker) complete(lists []scoredList, bonus uint32) []uint32 {
	r.choose(r.promising(r.touched, r.docs[:0], bonus))
	read := 0
	for _, l := range lists {
		if read > pruneAfter*len(r.docs) && len(r.docs) > r.top.size {
			r.chosen.removeAll(r.docs)
			docs := r.promising(r.docs, r.docs[:0], bonus)
			r.docs = r.docs[:0]
			r.choose(docs)
			read = 0
		}
		r.addChosen(l.docs, l.gain)
		read += l.docs.len()
		r.open.pass(l)
	}
	return r.docs
}

// promising appends those of docs that can still be among the best to out,
// which may begin where docs does.
func (r *ranker) promising(docs, out []uint32, bonus uint32) []uint32 {
	need := r.reached(docs, bonus)
	for _, doc := range docs {
		if r.sum[doc]+r.open.sum >= need {
			out = append(out, doc)
		}
	}
	return out
}

// reached is a score, but for the bonus, that the last of the best is sure to
// have at least.
func (r *ranker) reached(docs []uint32, bonus uint32) uint32 {
	need := r.top.floor()
	need = max(need-min(need, bonus), r.sure)
	if len(docs) < r.top.size {
		return need
	}
	r.sums = r.sums[:0]
	for _, doc := range docs {
		if sum := r.sum[doc]; sum >= need {
			r.sums = append(r.sums, sum)
		}
	}
	if len(r.sums) >= r.top.size {
		r.sure = max(r.sure, kth(r.sums, r.top.size))
		need = max(need, r.sure)
	}
	return need
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
	sum   uint32
	gains []uint32 // what the lists add, source by source, most first
	next  []int    // by source, the first in gains that is not passed
	ends  []int    // by source, what its gains end before
}

// fill takes the lists, of which none has been read, by what they add.
func (o *openGains) fill(lists []scoredList, sources int) {
	o.sum = 0
	o.gains = slices.Grow(o.gains[:0], len(lists))[:len(lists)]
	o.ends = slices.Grow(o.ends[:0], sources)[:sources]
	clear(o.ends)
	for _, l := range lists {
		o.ends[l.source]++
	}
	o.next = o.next[:0]
	end := 0
	for s, n := range o.ends {
		o.next = append(o.next, end)
		o.ends[s] = end
		end += n
	}
	for _, l := range lists {
		if o.ends[l.source] == o.next[l.source] {
			o.sum += l.gain
		}
		o.gains[o.ends[l.source]] = l.gain
		o.ends[l.source]++
	}
}

func (o *openGains) pass(l scoredList) {
	at := o.next[l.source]
	o.sum -= o.gains[at]
	if at++; at < o.ends[l.source] {
		o.sum += o.gains[at]
	}
	o.next[l.source] = at
}
