package search

import (
	"cmp"
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

func (t *top) offer(c candidate) {
	full := len(t.list) == t.size
	switch {
	case t.isWide():
		t.list = append(t.list, c)
		return
	case full && t.compare(c, t.list[t.size-1]) >= 0:
		return
	case full:
		t.list = t.list[:t.size-1]
	}
	at, _ := slices.BinarySearchFunc(t.list, c, t.compare)
	t.list = slices.Insert(t.list, at, c)
}

// sorted is the list, best first and no longer than it should be.
func (t *top) sorted() []candidate {
	if t.isWide() {
		slices.SortFunc(t.list, t.compare)
		t.list = t.list[:min(len(t.list), t.size)]
	}
	return t.list
}

// compare orders by score and, among equals, newest first.
func (t *top) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	rowsA, rowsB := &t.view.segs[a.part].rows, &t.view.segs[b.part].rows
	if c := cmp.Compare(rowsB.id(b.doc), rowsA.id(a.doc)); c != 0 {
		return c
	}
	return cmp.Compare(rowsA.spaceOf(a.doc), rowsB.spaceOf(b.doc))
}
