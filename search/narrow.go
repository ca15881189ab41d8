package search

import (
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring"

	"cairn/internal/event"
	"cairn/internal/moment"
	"cairn/search/query"
)

// A narrower finds the documents that filters inside a query let through.
type narrower struct {
	view *view
	now  time.Time // what spans such as 7d count back from
}

// allowed is the documents of each part that a query may find: what narrows it
// from outside, and the filters of its text. nil is all that are not dead.
func (n narrower) allowed(q *Query, parsed query.Query) ([]*roaring.Bitmap, error) {
	allow := make([]*roaring.Bitmap, len(n.view.segs))
	for i, part := range n.view.segs {
		docs, err := part.allowed(q)
		if err != nil {
			return nil, &DamagedError{Dir: n.view.dir, Err: err}
		}
		out := narrowed{docs}
		if err := n.apply(&out, part, parsed.Only, parsed.Never); err != nil {
			return nil, err
		}
		allow[i] = out.docs
	}
	return allow, nil
}

// apply narrows out to what all of only and none of never let through.
func (n narrower) apply(out *narrowed, part *part, only, never []query.Term) error {
	for _, t := range only {
		docs, err := n.term(part, t)
		if err != nil {
			return err
		}
		out.to(docs)
	}
	for _, t := range never {
		docs, err := n.term(part, t)
		if err != nil {
			return err
		}
		out.to(roaring.AndNot(part.notes(), docs))
	}
	return nil
}

// term is the documents that a term made of filters alone lets through. They
// may be shared and must not be changed.
func (n narrower) term(part *part, t query.Term) (*roaring.Bitmap, error) {
	if t.Filter != nil {
		return n.filter(part, *t.Filter)
	}
	docs := roaring.New()
	for _, e := range t.Group.Either {
		var each narrowed
		if err := n.apply(&each, part, e.Must, e.Not); err != nil {
			return nil, err
		}
		docs.Or(each.docs)
	}
	return docs, nil
}

func (n narrower) filter(part *part, f query.Filter) (*roaring.Bitmap, error) {
	if kind, value, ok := facetOf(f); ok {
		docs, err := part.facet(facet(kind, value))
		if err != nil {
			err = &DamagedError{Dir: n.view.dir, Err: err}
		}
		return docs, err
	}
	return roaring.And(part.notes(), part.inTime(n.times(f))), nil
}

// times is a filter of times as one from outside. The parser takes no other
// for one.
func (n narrower) times(f query.Filter) Filter {
	at, _ := moment.Parse(f.Value, n.now)
	if f.Field == query.Since {
		return Filter{Since: at}
	}
	return Filter{Until: at}
}

var facetFields = map[query.Field]byte{
	query.Tag: tagFacet, query.Kind: kindFacet, query.Harness: harnessFacet, query.Device: deviceFacet, query.Project: projectFacet,
}

// facetOf is the facet that a filter asks for; false for one of times.
func facetOf(f query.Filter) (kind byte, value string, ok bool) {
	kind, ok = facetFields[f.Field]
	if f.Field == query.Kind {
		return kind, kindNamed(f.Value), ok
	}
	return kind, f.Value, ok
}

// kindNamed takes the name of a kind as it is stored or as commands are
// written.
func kindNamed(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	if s == "note" {
		return string(event.KindObserve)
	}
	return s
}

// notes are the documents of a part that are notes, dead ones included.
func (p *part) notes() *roaring.Bitmap {
	out := roaring.New()
	out.AddRange(0, uint64(p.rows.Len()))
	out.AndNot(roaring.BitmapOf(p.rows.marks()...))
	return out
}
