package hindsight

import (
	"cairn/internal/event"
	"cairn/policy"
	"cairn/sync/eventlog"
)

// A Judge is what the events of one space are judged by at one moment.
type Judge struct {
	space string
	by    *policy.Hindsight
	free  func(event.Event) bool
}

// NewJudge judges the events of a space. Those for which free is true the team's
// rules do not reach, but for those about secrets; nil is for none.
func NewJudge(space string, by *policy.Hindsight, free func(event.Event) bool) Judge {
	return Judge{space: space, by: by, free: free}
}

// Basis is what it judges by.
func (j Judge) Basis() policy.Basis { return j.by.Basis(j.space) }

// Event lists what speaks against showing an event.
func (j Judge) Event(e event.Event) []policy.Place {
	if err := j.by.Secrets(e); err != nil {
		return policy.Unfit(err)
	}
	return j.terms(e)
}

func (j Judge) terms(e event.Event) []policy.Place {
	if j.free != nil && j.free(e) {
		return nil
	}
	if err := j.by.Terms(e); err != nil {
		return policy.Unfit(err)
	}
	return nil
}

// Raw lists what speaks against the bytes of an object that is no event this
// program can read.
func (j Judge) Raw(kind string, data []byte) (places []policy.Place) {
	for _, f := range j.by.Policy().DecideRawIn(j.space, kind, data) {
		places = append(places, policy.Place{Rule: f.Rule, Field: f.Field})
	}
	return places
}

// stored lists what speaks against an event as a log holds it; without texts,
// secrets left aside.
func (j Judge) stored(s eventlog.Stored, texts bool) []policy.Place {
	switch {
	case s.Err != nil && texts:
		return j.Raw(policy.Blob, s.Bytes)
	case s.Err != nil:
		return nil
	case texts:
		return j.Event(s.Event)
	}
	return j.terms(s.Event)
}
