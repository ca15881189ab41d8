package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring"

	"cairn/search/query"
)

// whyNothing says why a query finds nothing although it may seem that it
// should; it is empty if there is nothing to say. It tells of no note that the
// query would not find with less in it.
func (n narrower) whyNothing(ctx context.Context, q Query, parsed query.Query, allow []*roaring.Bitmap) (string, error) {
	absent, err := n.absent(parsed.Only)
	if absent != "" || err != nil {
		return absent, err
	}
	q.Limit = 1
	if wide, ok := parsed.WithoutFilters(); ok {
		allow, err := n.allowed(&q, wide)
		if err != nil {
			return "", err
		}
		if some, err := n.findsSome(ctx, q, wide, allow); some || err != nil {
			return "no note fits all of it; without the filters some do", err
		}
	}
	_, _, looked := parsed.Loose() // by find
	if plain, ok := parsed.AnyWord(); ok && !looked {
		if some, err := n.findsSome(ctx, q, plain, allow); some || err != nil {
			return "no note fits all of it; without quotes and operators some do", err
		}
	}
	known, unknown, err := n.known(q, parsed)
	if err != nil || known.IsEmpty() {
		return "", err
	}
	if some, err := n.findsSome(ctx, q, known, allow); !some || err != nil {
		return "", err
	}
	return fmt.Sprintf("no note holds %s; without that some fit", quotedList(unknown[:min(len(unknown), maxSpelled)])), nil
}

func (n narrower) findsSome(ctx context.Context, q Query, parsed query.Query, allow []*roaring.Bitmap) (bool, error) {
	out, _, err := n.view.answer(ctx, q, parsed, n, allow)
	return len(out.Hits) > 0, err
}

// maxAbsent is how many filters are named that no note fits.
const maxAbsent = 4

// absent says which filters no note fits at all, such as a misspelled project.
func (n narrower) absent(only []query.Term) (string, error) {
	var out []string
	for _, t := range only {
		if t.Filter == nil {
			continue
		}
		kind, value, ok := facetOf(*t.Filter)
		if !ok {
			continue
		}
		found, err := n.view.countFacet(facet(kind, value))
		if err != nil {
			return "", err
		}
		remark := fmt.Sprintf("no note has %s%s", t.Filter.Field, cut(t.Filter.Value, maxNamed))
		if found == 0 && !slices.Contains(out, remark) {
			out = append(out, remark)
		}
		if len(out) == maxAbsent {
			break
		}
	}
	if len(out) > 0 {
		out = append(out, "in quotes it is looked for as text")
	}
	return join(out), nil
}

// maxNamed is how much of what was typed a note repeats, in bytes.
const maxNamed = 64

// maxSpelled is how many spellings are named, and how many words they are named
// of.
const maxSpelled = 3

// A spelling is a word that no note holds, and the words it was taken for.
type spelling struct {
	text  string
	like  like
	forms []string
}

func (s *spelling) isFull() bool { return len(s.forms) == maxSpelled }

func (s *spelling) look(form string) {
	if !s.isFull() && s.like.accepts(form) && !slices.Contains(s.forms, form) {
		s.forms = append(s.forms, strings.Clone(form))
	}
}

// spelled says of words that no note holds what the best notes that were found
// hold instead.
func (p *plan) spelled(hits []docRef) (string, error) {
	list := p.spellings()
	for _, ref := range hits[:min(len(hits), closerLook)] {
		if !slices.ContainsFunc(list, func(s *spelling) bool { return !s.isFull() }) {
			break
		}
		err := p.view.segs[ref.part].text(ref.doc, func(text []byte) { lookIn(text, list) })
		if err != nil {
			return "", &DamagedError{Dir: p.view.dir, Err: err}
		}
	}
	var notes []string
	for _, s := range list {
		if len(s.forms) > 0 {
			notes = append(notes, fmt.Sprintf("no note holds %q; looked for %s", s.text, quotedList(s.forms)))
		}
	}
	return join(notes), nil
}

func (p *plan) spellings() (list []*spelling) {
	for _, text := range p.misspelled[:min(len(p.misspelled), maxSpelled)] {
		list = append(list, &spelling{text: text, like: p.sources[p.index[similarName(text)]].like})
	}
	return list
}

// maxSpelledIn is how much of a text is read for that, in bytes.
const maxSpelledIn = 32 << 10

func lookIn(text []byte, list []*spelling) {
	for form := range strings.FieldsSeq(string(text[:min(len(text), maxSpelledIn)])) {
		for _, s := range list {
			s.look(form)
		}
	}
}

func quotedList(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, strconv.Quote(w))
	}
	return strings.Join(out, ", ")
}
