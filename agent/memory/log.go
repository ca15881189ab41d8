package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/hubwire"
)

// How many events a list holds if nothing is said, and at most.
const (
	logLimit = 20
	maxList  = 100_000
)

// Log lists events newest first; see api.Agent.
func (s *Service) Log(ctx context.Context, q api.Query) (api.Answer, error) {
	start := time.Now()
	out := api.Answer{Hits: []api.Hit{}}
	spaces, err := s.chosen(q.Filter.Space)
	if err != nil {
		return out, err
	}
	notes := s.catchUp(ctx, spaces, (*Service).levelFacts)
	var all []ranked
	limit := limitOf(q.Limit, logLimit, maxList)
	for _, sp := range spaces {
		list, total := s.newest(sp, q, limit)
		all = append(all, list...)
		out.Total += total
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(b.id, a.id) })
	var unread []string
	out.Hits, unread = readHits(all[:min(len(all), limit)], "")
	notes = append(notes, unread...)
	out.Partial, out.Note = len(notes) > 0, joinNotes(notes)
	out.TookUS = time.Since(start).Microseconds()
	return out, nil
}

// newest is the newest events of a space that the query lets through, and how
// many it lets through in all.
func (s *Service) newest(sp *space, q api.Query, limit int) (list []ranked, total int) {
	view := s.view(sp)
	sp.kept.Facts(func(set *projection.Set) {
		for id, st := range set.EachStanding(q.Filter, view) {
			if !s.shows(sp, id, st, q) || isUnasked(set, sp, id, q.Filter) {
				continue
			}
			if total++; total <= limit {
				list = append(list, ranked{sp: sp, id: id, standing: st})
			}
		}
	})
	return list, total
}

// isUnasked says whether the event is one of those that a hub records, and
// neither its space nor its kind was asked for: there are many, and they are nobody's notes.
func isUnasked(set *projection.Set, sp *space, id event.ID, f api.Filter) bool {
	if sp.name != hubwire.Audit || f.Space != "" || f.Kind != "" {
		return false
	}
	kind, _ := set.Kind(id)
	return kind == event.KindAudit
}
