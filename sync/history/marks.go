package history

import "iter"

// mark is what a walk knows of a commit.
type mark uint8

const (
	left    mark = 1 << iota // reached from what is wanted, or from the first of two commits
	right                    // reached from the second of two commits
	theirs                   // reached from what somebody has
	below                    // reached from a common ancestor
	reaches                  // has a goal in its history
)

// marks is a mark for each number, kept for those parts of the graph that a walk touches.
type marks []*[chunkSize]mark

// marks returns a clean set. Called with mu held.
func (g *Graph) marks() marks { return make(marks, (g.count+chunkSize-1)/chunkSize) }

func (m marks) get(n int32) mark {
	if page := m[n/chunkSize]; page != nil {
		return page[n%chunkSize]
	}
	return 0
}

func (m marks) add(n int32, bits mark) {
	if bits == 0 {
		return
	}
	page := &m[n/chunkSize]
	if *page == nil {
		*page = new([chunkSize]mark)
	}
	(*page)[n%chunkSize] |= bits
}

// walker goes from marked commits down to their ancestors.
type walker struct {
	g      *Graph
	marks  marks
	closed mark  // commits with this mark need not be visited for their own sake
	open   int   // how many commits without it are marked and not visited
	top    int32 // the greatest number marked
}

// walk returns a walker without a start. Called with mu held, and so are its methods.
func (g *Graph) walk(closed mark) *walker {
	return &walker{g: g, marks: g.marks(), closed: closed, top: -1}
}

// mark adds bits to a commit. During a walk only ancestors of the visited commit may be marked.
func (w *walker) mark(n int32, bits mark) {
	before := w.marks.get(n)
	after := before | bits
	wasOpen := before != 0 && before&w.closed == 0
	if isOpen := after&w.closed == 0; isOpen && !wasOpen {
		w.open++
	} else if wasOpen && !isOpen {
		w.open--
	}
	w.marks.add(n, bits)
	w.top = max(w.top, n)
}

// pass marks the parents of a commit.
func (w *walker) pass(n int32, bits mark) {
	var room [2]int32
	for _, p := range w.g.parents(n, room[:0]) {
		w.mark(p, bits)
	}
}

// down visits the marked commits, children before parents, until only closed ones remain. When a commit is visited its
// marks are complete, because all that can reach it have greater numbers.
func (w *walker) down() iter.Seq2[int32, mark] {
	return func(yield func(int32, mark) bool) {
		for n := w.top; n >= 0 && w.open > 0; n-- {
			if w.marks[n/chunkSize] == nil {
				n -= n % chunkSize // nothing is marked in this chunk
				continue
			}
			m := w.marks.get(n)
			if m == 0 {
				continue
			}
			if m&w.closed == 0 {
				w.open--
			}
			if !yield(n, m) {
				return
			}
		}
	}
}
