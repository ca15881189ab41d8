package query

import (
	"slices"
	"strings"
	"time"

	"cairn/internal/moment"
)

// A Filter narrows a query by what stands beside the text of a note. Upper and
// lower case are the same.
type Filter struct {
	Field Field  // one of those that are no part of the text
	Value string // as typed, without quotes; a time for Since and Until, see package moment
}

// fieldNames are what stands before a colon. Any other word there is text.
var fieldNames = map[string]Field{
	"title": Title, "tag": Tag, "kind": Kind, "harness": Harness, "device": Device, "project": Project, "since": Since, "until": Until,
}

const longestName = len("harness")

// String is the name of a field as it is typed, with its colon; empty for
// Anywhere.
func (f Field) String() string {
	for name, field := range fieldNames {
		if field == f {
			return name + ":"
		}
	}
	return ""
}

// leadingField reads the name of a field and its colon. What a name of code or
// an address begins with is none: Device::new, project://x.
func leadingField(s string) (Field, int) {
	i := strings.IndexByte(s[:min(len(s), longestName+1)], ':')
	if i < 0 {
		return Anywhere, 0
	}
	field, ok := fieldNames[strings.ToLower(s[:i])]
	if rest := s[i+1:]; !ok || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "//") {
		return Anywhere, 0
	}
	return field, i + 1
}

// isFilter says that the item narrows and is no text.
func (it item) isFilter() bool {
	return it.field > Title && (it.kind == chunkItem || it.kind == phraseItem)
}

// filterOf is the filter of an item. Outside of quotes, what ends a sentence
// does not belong to it.
func filterOf(it item) Filter {
	value := it.text
	if it.kind == chunkItem {
		value = strings.TrimRight(value, ".,;?!")
	}
	return Filter{it.field, strings.TrimSpace(value)}
}

// asksNothing says that a field is named and nothing asked of it.
func (it item) asksNothing() bool {
	return it.field != Anywhere && strings.Trim(filterOf(it).Value, "*") == ""
}

// namesNoTime says that a time is asked for that is none.
func (it item) namesNoTime() bool {
	if it.field != Since && it.field != Until {
		return false
	}
	_, ok := moment.Parse(filterOf(it).Value, time.Time{})
	return !ok
}

// negatesAlone says that NOT before i needs nothing to take away from: what
// begins there has a field, or is a bracket of filters alone.
func negatesAlone(items []item, i int) bool {
	if at(items, i).kind != openItem {
		return at(items, i).field != Anywhere
	}
	depth := 0
	for _, it := range items[i:] {
		switch it.kind {
		case openItem:
			depth++
		case closeItem:
			depth--
		case chunkItem, phraseItem:
			if !it.isFilter() {
				return false
			}
		}
		if depth == 0 {
			return true
		}
	}
	return false
}

// narrows says that a term is made of filters alone.
func (t Term) narrows() bool {
	switch {
	case t.Filter != nil:
		return true
	case t.Group == nil:
		return false
	}
	return !slices.ContainsFunc(t.Group.Either, func(e Expr) bool {
		return len(e.Want) > 0 || slices.ContainsFunc(e.Must, Term.asks) || slices.ContainsFunc(e.Not, Term.asks)
	})
}

// asks says that a term asks for some text.
func (t Term) asks() bool { return !t.narrows() }

// withFiltersApart takes out of the only expression of a query what narrows
// it, so that what is left is the question that it would be without.
func (q Query) withFiltersApart() Query {
	if all := (Term{Group: &q}); len(q.Either) > 1 && all.narrows() {
		return Query{Only: []Term{all}}
	}
	if len(q.Either) != 1 {
		return q
	}
	e := &q.Either[0]
	q.Only, e.Must = parted(e.Must)
	q.Never, e.Not = parted(e.Not)
	if e.isEmpty() {
		q.Either = nil
	}
	return q
}

func parted(terms []Term) (narrow, rest []Term) {
	for _, t := range terms {
		if t.narrows() {
			narrow = append(narrow, t)
		} else {
			rest = append(rest, t)
		}
	}
	return narrow, rest
}
