package search

import (
	"math"
	"time"

	"github.com/RoaringBitmap/roaring"
)

// A Filter narrows a query to notes with these facets, in whatever case. Empty
// members do not. The start of its id will do for a Device, if it is
// event.MinDeviceStart characters or more.
type Filter struct {
	Kind, Harness, Device, Actor, Project string

	Tags []string // all of them

	Since time.Time // recorded at or after
	Until time.Time // recorded before
}

// facets are the facets that a note has to have, all of them.
func (f Filter) facets() []string {
	var out []string
	want := func(kind byte, value string) {
		if value != "" {
			out = append(out, facet(kind, value))
		}
	}
	want(kindFacet, f.Kind)
	want(harnessFacet, f.Harness)
	want(deviceFacet, f.Device)
	want(actorFacet, f.Actor)
	want(projectFacet, f.Project)
	for _, tag := range f.Tags {
		want(tagFacet, tag)
	}
	return out
}

func (f Filter) limitsTime() bool { return !f.Since.IsZero() || !f.Until.IsZero() }

// span is the milliseconds of a filter: from the first to before the last.
func (f Filter) span() (first, last int64) {
	first, last = math.MinInt64, math.MaxInt64
	if !f.Since.IsZero() {
		first = ceilMillis(f.Since)
	}
	if !f.Until.IsZero() {
		last = ceilMillis(f.Until)
	}
	return first, last
}

// ceilMillis rounds up: what was recorded in a millisecond that began before
// the limit is before it.
func ceilMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}

// allowed is the documents of a part that a query may find, or nil if it may
// find all that are not dead.
func (p *part) allowed(q *Query) (*roaring.Bitmap, error) {
	var out narrowed
	if len(q.Spaces) > 0 {
		spaces, err := p.inSpaces(q.Spaces)
		if err != nil {
			return nil, err
		}
		out.to(spaces)
	}
	for _, term := range q.Filter.facets() {
		b, err := p.facet(term)
		if err != nil {
			return nil, err
		}
		out.to(b)
	}
	if q.Filter.limitsTime() {
		out.to(p.inTime(q.Filter))
	}
	return out.docs, nil
}

// narrowed is what several conditions leave of all documents; nil is all. What
// it was narrowed to is never changed.
type narrowed struct{ docs *roaring.Bitmap }

func (n *narrowed) to(b *roaring.Bitmap) {
	if n.docs != nil {
		b = roaring.And(n.docs, b)
	}
	n.docs = b
}

func (p *part) inSpaces(spaces []string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, s := range spaces {
		b, err := p.facet(facet(spaceFacet, s))
		if err != nil {
			return nil, err
		}
		out.Or(b)
	}
	return out, nil
}

func (p *part) inTime(f Filter) *roaring.Bitmap {
	docs := newDocSet(p.rows.Len())
	first, last := f.span()
	for doc := range uint32(p.rows.Len()) {
		if ms := p.rows.Time(doc); ms >= first && ms < last {
			docs[doc/64] |= 1 << (doc % 64)
		}
	}
	return roaring.FromDense(docs, false)
}
