package secrets

import "sort"

// A view is one reading of a text: as it is, or as someone who wants to hide
// or merely format a token might have meant it.
type view struct {
	text   []byte
	origin *origin // where its bytes come from in the raw text; nil is the raw text itself

	kind      viewKind
	unescaped int // rounds of unescaping behind it
	decoded   int // levels of encoding taken off
}

// A viewKind says how a view was made from the one before it.
type viewKind uint8

const (
	asIs viewKind = iota
	asUTF16
	asTags
	asSelectors
	asFolded
	asUnescaped
	asUnquoted
	asQuotedPrintable
	asNumbers
	asSpelled
	asPieced
	asReversed
	asRotated
	asJoined
	asDecoded
	asInflated
)

// scrambled reports views in which neighbors are no neighbors in the text:
// a name there says nothing about the value behind it.
func (k viewKind) scrambled() bool { return k == asJoined || k == asPieced || k.turned() }

// turned reports views in which only a token by itself can be read.
func (k viewKind) turned() bool { return k == asReversed || k == asRotated }

// raw maps a range of the view to the raw text.
func (v view) raw(s span) span {
	for o := v.origin; o != nil; o = o.parent {
		s = o.locate(s)
	}
	return s
}

// An origin maps positions in a text to those in the text it was made from.
type origin struct {
	parent *origin
	steps  []step // a run of equal bytes begins at each
	runs   []run  // or else: stretches that stand for an encoded run as a whole
}

type step struct{ out, in int }

type run struct {
	out int
	in  span
}

func (o *origin) locate(s span) span {
	if o.runs != nil {
		first, last := o.runAt(s.start), o.runAt(max(s.start, s.end-1))
		return span{first.start, last.end}
	}
	start, end := o.position(s.start), o.position(s.end)
	return span{start, max(start, end)}
}

func (o *origin) runAt(out int) span {
	i := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].out > out })
	return o.runs[max(0, i-1)].in
}

func (o *origin) position(out int) int {
	i := sort.Search(len(o.steps), func(i int) bool { return o.steps[i].out > out })
	if i == 0 {
		return out
	}
	return o.steps[i-1].in + out - o.steps[i-1].out
}

// A rewriter makes a text from another by replacing pieces of it in order.
type rewriter struct {
	in    []byte
	out   []byte
	steps []step
	next  int // first byte of in that is not in out yet
}

// replace keeps what stands before s and puts with in its place.
func (r *rewriter) replace(s span, with ...byte) {
	r.out = append(r.out, r.in[r.next:s.start]...)
	if len(with) > 0 {
		r.steps = append(r.steps, step{len(r.out), s.start})
		r.out = append(r.out, with...)
	}
	r.next = s.end
	r.steps = append(r.steps, step{len(r.out), s.end})
}

// view returns the new text as a view made from another, unless nothing was
// replaced.
func (r *rewriter) view(kind viewKind, from view) (view, bool) {
	if r.next == 0 {
		return view{}, false
	}
	r.out = append(r.out, r.in[r.next:]...)
	from.text, from.kind = r.out, kind
	from.origin = &origin{parent: from.origin, steps: r.steps}
	return from, true
}

// standFor is the view of texts that runs of v stand for.
func (v view) standFor(kind viewKind, text []byte, runs []run) view {
	return view{text: text, kind: kind, origin: &origin{parent: v.origin, runs: runs}, unescaped: v.unescaped, decoded: v.decoded}
}
