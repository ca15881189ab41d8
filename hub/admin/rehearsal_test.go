package admin

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cairn/hub/dryrun"
	"cairn/internal/event"
	"cairn/internal/problem"
	"cairn/policy/trial"
)

func broken(ids ...event.ID) (list []trial.Break) {
	for _, id := range ids {
		list = append(list, trial.Break{ID: id, Rule: "kind", Field: "kind"}, trial.Break{ID: id, Rule: "acme", Field: "tags[0]"})
	}
	return list
}

func in(space string, ids ...event.ID) dryrun.SpaceResult {
	return dryrun.SpaceResult{Name: space, Result: trial.Result{NewlyRefused: broken(ids...), Counts: trial.Counts{NewlyRefused: len(ids)}}}
}

func newIDs(n int) (ids []event.ID) {
	for range n {
		ids = append(ids, event.NewID(time.Now()))
	}
	return ids
}

// Nothing passes a strict question but what was tried to its end and named.
func TestOnlyWhatWasNamedIsAccepted(t *testing.T) {
	ids := newIDs(3)
	r := &Rehearsal{MayRead: func(space string) bool { return space != "vault" }}
	all := []string{string(ids[0]), string(ids[1]), string(ids[2])}
	for name, c := range map[string]struct {
		found  dryrun.Result
		accept []string
		code   problem.Code // empty for taken
	}{
		"nothing is refused":       {dryrun.Result{Complete: true}, nil, ""},
		"all are named":            {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids...)}}, all, ""},
		"by enough of their ids":   {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids[0])}}, []string{"~" + string(ids[0][18:])}, ""},
		"people's own":             {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("personal", ids...)}}, nil, ""},
		"one is not named":         {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids...)}}, all[1:], problem.Policy},
		"another is named":         {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids[0])}}, all[1:], problem.Policy},
		"by less than six letters": {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids[0])}}, []string{string(ids[0][21:])}, problem.Policy},
		"by what all have":         {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids...)}}, []string{string(ids[0][:6])}, problem.Policy},
		"by what two spaces have":  {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("team", ids[0]), in("docs", ids[1])}}, []string{string(ids[0][:6])}, problem.Policy},
		"in a space of others":     {dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{in("vault", ids...)}}, all, problem.Policy},
		"not tried to the end":     {dryrun.Result{}, nil, problem.Busy},
		"a space that is damaged":  {dryrun.Result{Untried: []string{"team"}}, nil, problem.Failed},
	} {
		err := r.strictly(c.found, c.accept)
		if (err == nil) != (c.code == "") || err != nil && problem.Of(err).Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	more := in("team", ids...)
	more.Counts.NewlyRefused = 9 // than are listed
	if r.strictly(dryrun.Result{Complete: true, Spaces: []dryrun.SpaceResult{more}}, all) == nil {
		t.Error("what is not listed is accepted")
	}
}

// An answer is bounded, and names nothing that whoever asks may not read.
func TestAnAnswerNamesWhatMayBeReadAndNotAll(t *testing.T) {
	r := &Rehearsal{MayRead: func(space string) bool { return space != "vault" }}
	found := dryrun.Result{Complete: true}
	for i := range 60 {
		found.Spaces = append(found.Spaces, in(fmt.Sprintf("s%02d", i), newIDs(100)...))
	}
	found.Spaces = append(found.Spaces, in("personal", newIDs(3)...), in("vault", newIDs(3)...))
	for range 1000 {
		r.Rights = append(r.Rights, trial.Change{Person: "ana"})
	}
	said := r.tell(found, []string{string(found.Spaces[0].NewlyRefused[0].ID), string(found.Spaces[61].NewlyRefused[0].ID)})
	named := 0
	for _, s := range said.Spaces {
		named += len(s.Refused)
		if (s.Space == "personal" || s.Space == "vault") && len(s.Refused) > 0 {
			t.Errorf("%s: %+v", s.Space, s.Refused)
		}
	}
	if named != listed || len(said.Rights) != listed || said.NewlyRefused != 6006 || !slices.Equal(said.Accepted, []event.ID{found.Spaces[0].NewlyRefused[0].ID}) {
		t.Errorf("%d named, %d rights, %d refused, accepted %v", named, len(said.Rights), said.NewlyRefused, said.Accepted)
	}
}
