package memory

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/search"
	"cairn/sync/eventlog"
)

// maxSnippet is the most bytes of a hit's snippet.
const maxSnippet = 240

// redactedTitle stands in the place of the title of a redacted event.
const redactedTitle = "(redacted)"

// newerTitle stands for an event that only a newer program can read.
const newerTitle = "(written by a newer cairn: upgrade to read it)"

// shows says whether an event that counts for st belongs into an answer. One
// that is held is in the index, as superseded ones are, and in no answer.
func (s *Service) shows(sp *space, id event.ID, st projection.Standing, q api.Query) bool {
	wanted := st.State == api.Live || q.All && st.State != api.Held
	return wanted && !s.ledger.withheld(sp.name, id)
}

// hit reads an event for an answer. Of a redacted one it shows only that it is
// there.
func (sp *space) hit(tree plumbing.Hash, id event.ID, st projection.Standing, query string) (api.Hit, error) {
	h := api.Hit{
		ID: id, Space: sp.name, Tags: []string{}, Recorded: event.NewTime(id.Time()), Observed: event.NewTime(id.Time()),
		State: st.State, SupersededBy: st.SupersededBy, Verdict: string(st.Verdict),
	}
	if st.State == api.Redacted {
		sp.kept.Facts(func(set *projection.Set) { h.Kind, _ = set.Kind(id) })
		h.Title = redactedTitle
		return h, nil
	}
	stored, err := sp.log.Event(tree, id)
	if err != nil {
		return h, err
	}
	if stored.Err != nil {
		h.Title, h.Newer = newerTitle, true
		return h, nil
	}
	fillHit(&h, stored.Event, query)
	return h, nil
}

func fillHit(h *api.Hit, e event.Event, query string) {
	h.Kind, h.Observed = e.Kind, e.Observed
	h.Title, h.Text = e.Payload.Title(), e.Payload.Body()
	h.Snippet = search.Snippet(query, h.Title, h.Text, maxSnippet)
	h.Tags, h.Project = e.Tags, e.Project
	h.Harness, h.Device, h.Actor = e.Actor.Harness, string(e.Actor.Device), e.Actor.ID
}

// readHits reads ranked events for an answer. One that cannot be read is left
// out, with a note; one that has left the log meanwhile without.
func readHits(list []ranked, query string) (hits []api.Hit, notes []string) {
	hits = []api.Hit{}
	trees := map[*space]plumbing.Hash{}
	for _, r := range list {
		if _, known := trees[r.sp]; !known {
			head, err := r.sp.log.Head()
			if err != nil {
				notes = append(notes, unreadable(r, err))
				continue
			}
			trees[r.sp] = head.Tree
		}
		h, err := r.sp.hit(trees[r.sp], r.id, r.standing, query)
		if errors.Is(err, eventlog.ErrNotFound) {
			continue
		}
		if err != nil {
			notes = append(notes, unreadable(r, err))
			continue
		}
		h.Score = r.score
		hits = append(hits, h)
	}
	return hits, notes
}

func unreadable(r ranked, err error) string {
	return fmt.Sprintf("%s cannot be shown: %s", r.id.Short(), problem.Of(Problem(err)).Message)
}
