package search

import (
	"fmt"
	"strings"

	"cairn/search/query"
)

// remarks says what there is to know about a result as a whole.
func (n narrower) remarks(r Result, parsed query.Query) (string, error) {
	all := parsed.Remarks
	if r.Note != "" {
		all = append([]string{r.Note}, all...)
	}
	if len(r.Hits) == 0 {
		absent, err := n.absent(parsed.Only)
		if err != nil {
			return "", err
		}
		all = append(all, absent...)
	}
	return strings.Join(all, "; "), nil
}

// absent says which filters no note fits at all, such as a misspelled project.
func (n narrower) absent(only []query.Term) (out []string, err error) {
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
			return nil, err
		}
		if found == 0 {
			out = append(out, fmt.Sprintf("no note has %s%s", t.Filter.Field, t.Filter.Value))
		}
	}
	return out, nil
}
