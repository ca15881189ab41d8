package memory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cairn/agent/api"
	"cairn/agent/catchup"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/search"
	"cairn/search/query"
)

const (
	askLimit = 5
	maxLimit = 1000
	// spare is how many more candidates are ranked than asked for, so that a
	// refuted one can make room.
	spare = 10
)

// Ask searches; see api.Agent.
func (s *Service) Ask(ctx context.Context, q api.Query) (api.Answer, error) {
	start := time.Now()
	out := api.Answer{Query: q.Text, Hits: []api.Hit{}}
	spaces, err := s.chosen(q.Filter.Space)
	if err != nil {
		return out, err
	}
	if q.Filter.Kind == "" && typesAudit(spaces, q.Text) {
		q.Filter.Kind = event.KindAudit
	}
	notes := s.catchUp(ctx, spaces, (*Service).levelAll)
	views := s.views(spaces)
	result, err := s.keeper.Ask(ctx, s.searchFor(q, spaces, views))
	if errors.Is(err, catchup.ErrBehind) {
		notes = append(notes, s.whyBehind())
	} else if err != nil {
		return out, Problem(err)
	}
	found := s.candidates(spaces, views, result.Hits, q)
	out.Total = result.Total
	if len(found) < limitOf(q.Limit, askLimit, maxLimit)+spare {
		out.Total = len(found) // no more than these
	}
	var unread []string
	out.Hits, unread = readHits(rank(found, limitOf(q.Limit, askLimit, maxLimit)), q.Text)
	notes = append(notes, unread...)
	out.Partial = len(notes) > 0
	out.Note = joinNotes(append([]string{result.Note}, notes...))
	out.TookUS = time.Since(start).Microseconds()
	return out, nil
}

// typesAudit says whether what a hub records is asked for by a filter among the
// words, where there is any of it.
func typesAudit(spaces []*space, text string) bool {
	if !slices.ContainsFunc(spaces, func(sp *space) bool { return sp.name == hubwire.Audit }) {
		return false
	}
	return slices.ContainsFunc(query.Parse(text).Only, func(t query.Term) bool {
		return t.Filter != nil && t.Filter.Field == query.Kind && strings.EqualFold(t.Filter.Value, string(event.KindAudit))
	})
}

// views is how each of the spaces looks from here and now.
func (s *Service) views(spaces []*space) []projection.View {
	views := make([]projection.View, len(spaces))
	for i, sp := range spaces {
		views[i] = s.view(sp)
	}
	return views
}

func (s *Service) searchFor(q api.Query, spaces []*space, views []projection.View) search.Query {
	f := search.Filter{
		Kind: string(q.Filter.Kind), Tags: q.Filter.Tags, Harness: q.Filter.Harness,
		Device: q.Filter.Device, Actor: q.Filter.Actor, Project: q.Filter.Project,
	}
	if q.Filter.Since != nil {
		f.Since = q.Filter.Since.Time
	}
	if q.Filter.Until != nil {
		f.Until = q.Filter.Until.Time
	}
	out := search.Query{Text: q.Text, Limit: limitOf(q.Limit, askLimit, maxLimit) + spare, Filter: f, Prefix: q.Prefix}
	for _, sp := range spaces {
		out.Spaces = append(out.Spaces, sp.name)
	}
	out.Keep = func(id event.ID) bool {
		for i, sp := range spaces {
			if _, ok := s.mayFind(sp, id, q, views[i]); ok {
				return true
			}
		}
		return false
	}
	return out
}

// mayFind says whether the event may be a hit, and what it counts for. A
// redacted one never is, or a search would tell what words were in it.
func (s *Service) mayFind(sp *space, id event.ID, q api.Query, view projection.View) (st projection.Standing, ok bool) {
	sp.kept.Facts(func(set *projection.Set) {
		st, ok = set.Standing(id, view)
		ok = ok && s.shows(sp, id, st, q) && st.State != api.Redacted && !isUnasked(set, sp, id, q.Filter) &&
			(q.Filter.Subject == "" || set.Fits(id, api.Filter{Subject: q.Filter.Subject}))
	})
	return st, ok
}

// limitOf is what was asked for, between 1 and most.
func limitOf(asked, otherwise, most int) int {
	if asked <= 0 {
		return otherwise
	}
	return min(asked, most)
}

// candidates are the events that the index found and that may be shown.
func (s *Service) candidates(spaces []*space, views []projection.View, found []search.Hit, q api.Query) []ranked {
	var out []ranked
	for _, f := range found {
		i := slices.IndexFunc(spaces, func(sp *space) bool { return sp.name == f.Space })
		if i < 0 {
			continue
		}
		if st, ok := s.mayFind(spaces[i], f.ID, q, views[i]); ok {
			out = append(out, newRanked(spaces[i], f, st))
		}
	}
	return out
}

// A ranked event is a candidate for an answer.
type ranked struct {
	sp       *space
	id       event.ID
	standing projection.Standing
	score    float64
}

// lowered is what is left of the score of an event that was refuted or does
// not hold any more.
const lowered = 0.5

func newRanked(sp *space, f search.Hit, st projection.Standing) ranked {
	r := ranked{sp: sp, id: f.ID, standing: st, score: f.Score}
	if st.Verdict == event.Refuted {
		r.score *= lowered
	}
	if st.State != api.Live {
		r.score *= lowered
	}
	return r
}

// rank orders by score, and puts what was superseded below what took its
// place.
func rank(list []ranked, limit int) []ranked {
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	for i := 0; i < len(list); i++ {
		by := list[i].standing.SupersededBy
		j := slices.IndexFunc(list, func(r ranked) bool { return by != "" && r.id == by })
		if j > i {
			successor := list[j]
			list = slices.Insert(slices.Delete(list, j, j+1), i, successor)
		}
	}
	return list[:min(len(list), limit)]
}
