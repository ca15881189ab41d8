package search

import (
	"slices"
	"strings"
)

// A candidate is a document that may become a hit.
type candidate struct {
	docRef
	score uint32 // allWords included
}

// allWords is added to the score of a note that holds all the words, so that
// it comes before any that does not.
const allWords = 1 << 31

// A top is the best documents seen so far, best first.
type top struct {
	view *view
	size int
	list []candidate
}

// floor is the score that a document must at least have to be among the best.
func (t *top) floor() uint32 {
	if len(t.list) < t.size {
		return 0
	}
	return t.list[len(t.list)-1].score
}

func (t *top) offer(c candidate) {
	if c.score < t.floor() {
		return
	}
	at, _ := slices.BinarySearchFunc(t.list, c, t.compare)
	if at >= t.size {
		return
	}
	if len(t.list) == t.size {
		t.list = t.list[:t.size-1]
	}
	t.list = slices.Insert(t.list, at, c)
}

// compare orders by score and, among equals, newest first.
func (t *top) compare(a, b candidate) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	keyA, keyB := t.view.key(a.docRef), t.view.key(b.docRef)
	spaceA, idA, _ := strings.Cut(keyA, keySep)
	spaceB, idB, _ := strings.Cut(keyB, keySep)
	if idA != idB {
		return strings.Compare(idB, idA)
	}
	return strings.Compare(spaceA, spaceB)
}

func (v *view) key(ref docRef) string { return v.segs[ref.part].rows.key(ref.doc) }
