package search

import (
	"slices"

	"cairn/search/analysis"
	"cairn/search/query"
)

// A word that so many notes hold, and one in so many, is finished: it is not
// taken for the start of others unless somebody is typing. Notes that hold the
// word itself fill every list of hits, and all that begins with a common word is
// the costliest list of any question.
const (
	finishedNotes = 100
	finishedShare = 100
)

// finished is a plain question without open words that are finished; false if
// there are none, or somebody is typing.
func (v *view) finished(q Query, parsed query.Query) (query.Query, bool, error) {
	if q.Prefix || len(parsed.Either) != 1 || len(parsed.Either[0].Must)+len(parsed.Either[0].Not) > 0 {
		return parsed, false, nil
	}
	want := slices.Clone(parsed.Either[0].Want)
	some := false
	for i, w := range want {
		if !w.Open || len(w.Parts) != 1 || w.Field != query.Anywhere {
			continue
		}
		stem, err := v.term(termKey(stemTerm, analysis.Stem(w.Parts[0])))
		if err != nil {
			return parsed, false, err
		}
		if stem.found >= max(finishedNotes, v.live/finishedShare) {
			want[i].Open, some = false, true
		}
	}
	if some {
		expr := parsed.Either[0]
		expr.Want = want
		parsed.Either = []query.Expr{expr}
	}
	return parsed, some, nil
}
