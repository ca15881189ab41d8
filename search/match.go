package search

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// wordDocs are the documents of a part that hold a word, dead ones included,
// found from the rarest of its parts on.
func (p *plan) wordDocs(part int, w *word) *roaring.Bitmap {
	out := roaring.New()
	for i, sources := range p.byRarity(part, w.parts) {
		if i == 0 {
			out = p.anyOf(part, sources)
		} else {
			out = p.anyWithin(part, sources, out)
		}
	}
	out.Or(p.anyOf(part, w.whole))
	return out
}

// byRarity are the sources of the parts of a word, those of the fewest documents
// first.
func (p *plan) byRarity(part int, parts [][]int) [][]int {
	if len(parts) < 2 {
		return parts
	}
	count := func(sources []int) (n uint64) {
		for _, i := range sources {
			n += p.sources[i].lists[part].count
		}
		return n
	}
	out := slices.Clone(parts)
	slices.SortStableFunc(out, func(a, b []int) int { return cmp.Compare(count(a), count(b)) })
	return out
}

// mayHold is false if no document of a part holds a word.
func (p *plan) mayHold(part int, w *word) bool {
	some := func(source int) bool { return p.sources[source].lists[part].count > 0 }
	return slices.ContainsFunc(w.whole, some) ||
		!slices.ContainsFunc(w.parts, func(sources []int) bool { return !slices.ContainsFunc(sources, some) })
}

func (p *plan) anyOf(part int, sources []int) *roaring.Bitmap {
	var lists []*roaring.Bitmap
	for _, i := range sources {
		lists = append(lists, p.sources[i].docs(part))
	}
	return union(lists)
}

// wordWithin are the documents of b that hold a word.
func (p *plan) wordWithin(part int, w *word, b *roaring.Bitmap) *roaring.Bitmap {
	out := roaring.New()
	for i, sources := range w.parts {
		docs := p.anyWithin(part, sources, b)
		if i == 0 {
			out = docs
		} else {
			out.And(docs)
		}
	}
	out.Or(p.anyWithin(part, w.whole, b))
	return out
}

func (p *plan) anyWithin(part int, sources []int, b *roaring.Bitmap) *roaring.Bitmap {
	out := roaring.New()
	for _, i := range sources {
		out.Or(p.sources[i].within(part, b))
	}
	return out
}

// holdsWord says whether one document holds a word.
func (p *plan) holdsWord(part int, doc uint32, w *word) bool {
	for _, i := range w.whole {
		if p.sources[i].contains(part, doc) {
			return true
		}
	}
	for _, sources := range w.parts {
		if !p.anyHolds(part, doc, sources) {
			return false
		}
	}
	return len(w.parts) > 0
}

func (p *plan) anyHolds(part int, doc uint32, sources []int) bool {
	for _, i := range sources {
		if p.sources[i].contains(part, doc) {
			return true
		}
	}
	return false
}

// matching are the documents that a query with structure matches, by part. A
// phrase that all of them must hold is left to be looked up.
func (p *plan) matching(allow []*roaring.Bitmap) ([]*roaring.Bitmap, error) {
	if p.matched != nil {
		return p.matched, nil
	}
	var out []*roaring.Bitmap
	for i, part := range p.view.segs {
		docs, err := p.eitherDocs(i, p.either, len(p.either) == 1)
		if err != nil {
			return nil, err
		}
		if allow[i] != nil {
			docs = roaring.And(docs, allow[i])
		}
		out = append(out, part.withoutDead(docs))
	}
	p.matched = out
	return out, nil
}

// eitherDocs are the documents that one of the expressions matches. Phrases
// are looked up in every candidate, except those in late, which stay to be
// looked up.
func (p *plan) eitherDocs(part int, either []expr, late bool) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, e := range either {
		docs, err := p.exprDocs(part, e, late)
		if err != nil {
			return nil, err
		}
		out.Or(docs)
	}
	return out, nil
}

func (p *plan) exprDocs(part int, e expr, late bool) (*roaring.Bitmap, error) {
	var out *roaring.Bitmap
	for _, t := range e.must {
		docs, err := p.termDocs(part, t, late)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = docs
		} else {
			out.And(docs)
		}
	}
	switch {
	case out == nil && len(e.want) == 0:
		out = p.view.segs[part].notes()
	case out == nil:
		out = p.wanted(part, e.want)
	case len(e.want) > 0:
		out.And(p.wanted(part, e.want))
	}
	for _, t := range e.not {
		docs, err := p.termDocs(part, t, false)
		if err != nil {
			return nil, err
		}
		out.AndNot(docs)
	}
	return out, nil
}

// wanted are the documents of a part that hold at least one of the words.
func (p *plan) wanted(part int, words []*word) *roaring.Bitmap {
	out := roaring.New()
	for _, w := range words {
		out.Or(p.wordDocs(part, w))
	}
	return out
}

func (p *plan) termDocs(part int, t term, late bool) (*roaring.Bitmap, error) {
	switch {
	case t.word != nil:
		return p.wordDocs(part, t.word), nil
	case t.phrase != nil && late:
		return p.candidates(part, t.phrase), nil
	case t.phrase != nil:
		return p.phraseDocs(part, t.phrase)
	case t.filter != nil:
		docs, err := p.narrow.filter(p.view.segs[part], *t.filter)
		if err != nil {
			return nil, err
		}
		return docs.Clone(), nil
	}
	return p.eitherDocs(part, t.group, false)
}

func (p *plan) phraseDocs(part int, ph *phrase) (*roaring.Bitmap, error) {
	out := roaring.New()
	for it := p.candidates(part, ph).Iterator(); it.HasNext(); {
		doc := it.Next()
		ok, err := p.holds(part, doc, ph)
		if err != nil {
			return nil, err
		}
		if ok {
			out.Add(doc)
		}
	}
	return out, nil
}
