package search

import "math"

// Sources that do not lead have no more than maxStrays documents, and no more than
// one for strayShare of that which does.
const (
	maxStrays  = 64
	strayShare = 8
)

// leading is the source that has nearly all the documents of a part, such as the
// stem of the only word of a question. The list of the best must be a short one.
func (r *ranker) leading(part int) (source int, ok bool) {
	most, all := uint64(0), uint64(0)
	for i, s := range r.plan.sources {
		if s.weight == 0 {
			continue
		}
		n := s.lists[part].count
		all += n
		if n > most {
			source, most = i, n
		}
	}
	return source, all-most <= min(maxStrays, most/strayShare) && !r.top.isWide()
}

// led ranks the documents of a part where one source leads: those that others
// have one by one, and then those that only it has, of which the newest at its
// best levels are enough.
func (r *ranker) led(part int, lists []scoredList, lead int) {
	for _, l := range lists {
		if l.source != lead {
			r.add(l.docs, l.gain)
		}
	}
	for _, l := range lists {
		if l.source == lead {
			for _, doc := range r.touched {
				if l.docs.has(doc) {
					r.sum[doc] += l.gain
				}
			}
		}
	}
	r.skip.addAll(r.touched)
	r.offer(part, r.touched, 0)
	for _, l := range lists {
		if l.source == lead && l.gain >= r.top.floor() {
			r.offerNewest(part, l)
		}
	}
}

// offerNewest lets documents of a list be among the best, newest first. One that
// is not is followed by none of its run.
func (r *ranker) offerNewest(part int, l scoredList) {
	rows := r.plan.view.segs[part].rows
	passed := uint32(math.MaxUint32)
	for doc := range l.docs.backward() {
		if doc >= passed || r.skip.has(doc) {
			continue
		}
		if !r.top.offer(candidate{docRef{part, doc}, l.gain}) {
			passed = rows.RunStart(doc)
		}
	}
}
