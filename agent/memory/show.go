package memory

import (
	"context"
	"errors"
	"slices"

	"cairn/agent/api"
	"cairn/agent/projection"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/sync/eventlog"
)

// Show is one event in full; see api.Agent. Of a redacted or withheld one the
// stored bytes are not given out.
func (s *Service) Show(ctx context.Context, ref string, history bool) (api.Shown, error) {
	id, name, err := s.Resolve(ctx, ref, "")
	if err != nil {
		return api.Shown{}, err
	}
	sp, err := s.space(name)
	if err != nil {
		return api.Shown{}, err
	}
	if s.ledger.withheld(name, id) {
		return api.Shown{}, withheldProblem(id)
	}
	out, err := s.show(sp, id)
	if err != nil {
		return api.Shown{}, Problem(err)
	}
	out.Commit = sp.commitOf(ctx, id)
	if history {
		out.History = s.history(sp, id)
	}
	return out, nil
}

func withheldProblem(id event.ID) error {
	return &problem.Problem{
		Code:    problem.Secret,
		Message: "event " + string(id) + " breaks a rule that is in force, such as one about secrets: it is kept in the history and not shown",
		Hint:    "cairn refused names the rule; if it holds a secret its author should redact it",
	}
}

func (s *Service) show(sp *space, id event.ID) (api.Shown, error) {
	view := s.view(sp)
	var st projection.Standing
	sp.kept.Facts(func(set *projection.Set) { st, _ = set.Standing(id, view) })
	head, err := sp.log.Head()
	if err != nil {
		return api.Shown{}, err
	}
	hit, err := sp.hit(head.Tree, id, st, "")
	if err != nil {
		return api.Shown{}, err
	}
	stored, err := sp.log.Event(head.Tree, id)
	if err != nil {
		return api.Shown{}, err
	}
	out := api.Shown{Hit: hit, State: st.State, Signature: signatureOf(stored), Device: string(stored.Event.Actor.Device)}
	if st.State != api.Redacted {
		out.Raw = stored.Bytes
	}
	return out, nil
}

// signatureOf is the word for a signature. That of an event which a newer
// program wrote cannot be checked.
func signatureOf(stored eventlog.Stored) string {
	if stored.Err != nil {
		return "none"
	}
	err := stored.Event.Verify()
	switch {
	case err == nil:
		return "good"
	case errors.Is(err, event.ErrUnsigned):
		return "none"
	default:
		return "bad"
	}
}

// history is the chain of an event, oldest first.
func (s *Service) history(sp *space, id event.ID) []api.Hit {
	view := s.view(sp)
	var chain []ranked
	sp.kept.Facts(func(set *projection.Set) {
		for _, id := range set.History(id) {
			if st, ok := set.Standing(id, view); ok && s.shows(sp, id, st, api.Query{All: true}) {
				chain = append(chain, ranked{sp: sp, id: id, standing: st})
			}
		}
	})
	hits, _ := readHits(chain, "") // what cannot be read is missing in the list
	return slices.Clip(hits)
}

// Export gives out every event; see api.Agent. Redacted and withheld ones are
// left out, since their bytes hold what must not be shown. Damaged ones are the
// error that it ends with, after all others.
func (s *Service) Export(ctx context.Context, spaceName string, fn func([]byte) error) error {
	spaces, err := s.chosen(spaceName)
	if err != nil {
		return err
	}
	for _, sp := range spaces {
		if err := s.export(ctx, sp, fn); err != nil {
			return Problem(err)
		}
	}
	return nil
}

func (s *Service) export(ctx context.Context, sp *space, fn func([]byte) error) error {
	head, err := sp.log.Head()
	if err != nil {
		return err
	}
	if err := sp.kept.LevelFacts(ctx, head); err != nil {
		return err
	}
	var damaged error
	err = sp.log.Added(ctx, [20]byte{}, head.Tree, func(e eventlog.Stored) error {
		if bad := e.Corrupt(); bad != nil {
			damaged = errors.Join(damaged, bad)
			return nil
		}
		hidden := s.ledger.withheld(sp.name, e.ID)
		sp.kept.Facts(func(set *projection.Set) { hidden = hidden || set.Redacted(e.ID) })
		if hidden {
			return nil
		}
		return fn(e.Bytes)
	})
	return errors.Join(err, damaged)
}
