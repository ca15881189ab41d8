package search

import (
	"cmp"
	"container/heap"
	"slices"
)

// A candidate is a document that may become a hit.
type candidate struct {
	docRef
	score uint32 // allWords included
}

// allWords is added to the score of a note that holds all the words, so that
// it comes before any that does not.
const allWords = 1 << 31

// A top is the best documents seen so far, best first, or, when it is wide,
// all of them in any order until it is sorted.
type top struct {
	view *view
	size int
	list []candidate
}

// maxNarrow is the size up to which a top is kept in order all the time. So
// many documents are only looked at when almost none of them is kept.
const maxNarrow = 2048

func (t *top) isWide() bool { return t.size > maxNarrow }

// floor is the score that a document must at least have to be among the best.
func (t *top) floor() uint32 {
	if t.isWide() || len(t.list) < t.size {
		return 0
	}
	return t.list[len(t.list)-1].score
}

// offer says whether a candidate is among the best of those offered so far.
func (t *top) offer(c candidate) bool {
	full := len(t.list) == t.size
	switch {
	case t.isWide():
		t.list = append(t.list, c)
		return true
	case full && c.score < t.list[t.size-1].score:
		return false
	case full && t.compare(c, t.list[t.size-1]) >= 0:
		return false
	case full:
		t.list = t.list[:t.size-1]
	}
	at, _ := slices.BinarySearchFunc(t.list, c, t.compare)
	t.list = slices.Insert(t.list, at, c)
	return true
}

// sorted is the list, best first and no longer than it should be.
func (t *top) sorted() []candidate {
	if t.isWide() {
		slices.SortFunc(t.list, t.compare)
		t.list = t.list[:min(len(t.list), t.size)]
	}
	return t.list
}

func (t *top) compare(a, b candidate) int { return t.view.compare(a, b) }

// A ranking is candidates of which nobody knows yet how many are needed: it is
// a heap, the best on top.
type ranking struct {
	view *view
	all  []candidate
}

func (r *ranking) Len() int           { return len(r.all) }
func (r *ranking) Less(i, j int) bool { return r.view.compare(r.all[i], r.all[j]) < 0 }
func (r *ranking) Swap(i, j int)      { r.all[i], r.all[j] = r.all[j], r.all[i] }
func (r *ranking) Push(c any)         { r.all = append(r.all, c.(candidate)) }

func (r *ranking) Pop() any {
	last := len(r.all) - 1
	c := r.all[last]
	r.all = r.all[:last]
	return c
}

// take removes the best, if there is any.
func (r *ranking) take() (candidate, bool) {
	if len(r.all) == 0 {
		return candidate{}, false
	}
	return heap.Pop(r).(candidate), true
}

// compare orders by score and, among equals, newest first.
func (v *view) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	rowsA, rowsB := v.segs[a.part].rows, v.segs[b.part].rows
	if c := rowsB.CompareIDs(b.doc, rowsA.Rows, a.doc); c != 0 {
		return c
	}
	return cmp.Compare(rowsA.Space(a.doc), rowsB.Space(b.doc))
}
