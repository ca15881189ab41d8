package projection

import (
	"slices"
	"time"

	"cairn/agent/api"
	"cairn/internal/event"
)

// A Standing is what one event counts for.
type Standing struct {
	State        api.State
	SupersededBy event.ID      // set for every superseded event, also if it is archived or redacted
	Verdict      event.Verdict // of the newest verification that is not redacted
}

// Standing is what the event counts for at the moment now; false if the set
// does not have it.
//
// A redaction always holds and is never undone. An event is superseded by one
// that names it, unless that one is redacted; by a newer preference or claim
// of its group that is not redacted; and, under one idempotency key, by the
// smallest id that is not redacted, archived or superseded in one of the first
// two ways. It is archived if the newest unredacted act says so.
func (s *Set) Standing(id event.ID, now time.Time) (Standing, bool) {
	at, ok := s.byID[fromID(id)]
	if !ok {
		return Standing{}, false
	}
	return s.standing(at, now), true
}

// Visible says whether the event is to be shown by default: it is in the set
// and live.
func (s *Set) Visible(id event.ID, now time.Time) bool {
	st, ok := s.Standing(id, now)
	return ok && st.State == api.Live
}

// Redacted says whether the event's text must not be shown. It may be asked
// about an event that is not here yet.
func (s *Set) Redacted(id event.ID) bool { return s.redacted(fromID(id)) }

// Refuted says whether the event's newest verification refutes it.
func (s *Set) Refuted(id event.ID) bool {
	return s.effects(fromID(id)).verdict == event.Refuted
}

func (s *Set) standing(at int32, now time.Time) Standing {
	r := &s.rows[at]
	e := s.effects(r.id)
	st := Standing{State: api.Live, Verdict: e.verdict}
	by := s.successor(at, e)
	if by != none {
		st.SupersededBy = s.rows[by].id.id()
	}
	switch {
	case e.redacted:
		st.State = api.Redacted
	case e.archived || r.act == actRetire:
		st.State = api.Archived
	case by != none:
		st.State = api.Superseded
	case r.validTo <= now.UnixMilli():
		st.State = api.Expired
	}
	return st
}

// successor is the row that stands in the place of at, or none.
func (s *Set) successor(at int32, e effects) int32 {
	if e.superseder != none {
		return e.superseder
	}
	if by := s.groupWinner(at); by != at {
		return by
	}
	if s.sharesKey(at) && s.holdsKey(at, e) {
		if by := s.keyWinner(s.rows[at].key); by != at {
			return by
		}
	}
	return none
}

// sharesKey says whether there is another row with the key of at.
func (s *Set) sharesKey(at int32) bool {
	r := &s.rows[at]
	return r.key != (Content{}) && (r.sameKey != none || s.byKey[r.key] != at)
}

// effects is what all acts on one id come to.
type effects struct {
	redacted   bool
	archived   bool
	superseder int32 // the newest, or none
	verdict    event.Verdict
}

func (s *Set) effects(id ref) effects {
	superseder, archive, verdict := none, none, none
	e := effects{}
	for at := s.firstActOn(id); at != none; at = s.rows[at].sameTarget {
		switch s.rows[at].act {
		case actRedact:
			e.redacted = true
		case actSupersede:
			superseder = s.newer(superseder, at)
		case actArchive, actRestore, actRetire:
			archive = s.newer(archive, at)
		default:
			verdict = s.newer(verdict, at)
		}
	}
	e.superseder = superseder
	if archive != none {
		e.archived = s.rows[archive].act != actRestore
	}
	if verdict != none {
		e.verdict = s.rows[verdict].act.verdict()
	}
	return e
}

// newer is the greater of the two rows that is not redacted; best may be none.
func (s *Set) newer(best, at int32) int32 {
	if best != none && s.rows[best].id.compare(s.rows[at].id) > 0 {
		return best
	}
	if s.redacted(s.rows[at].id) {
		return best
	}
	return at
}

func (s *Set) firstActOn(id ref) int32 {
	if at, ok := s.actedOn[id]; ok {
		return at
	}
	return none
}

func (s *Set) redacted(id ref) bool { return s.redaction(id) != none }

// groupWinner is the newest unredacted row of at's group. It is at itself
// where the question does not arise.
func (s *Set) groupWinner(at int32) int32 {
	if g := s.rows[at].group; g != 0 {
		if by := s.winnerOf(g); by != none {
			return by
		}
	}
	return at
}

func (s *Set) winnerOf(group uint32) int32 {
	for _, at := range slices.Backward(s.groups[group]) {
		if !s.redacted(s.rows[at].id) {
			return at
		}
	}
	return none
}

// holdsKey says whether at may hold its key. What was superseded by its group
// does not: otherwise the key's winner and the group's could be superseded by
// each other, and neither would hold.
func (s *Set) holdsKey(at int32, e effects) bool {
	return !e.redacted && !e.archived && s.rows[at].act != actRetire && e.superseder == none && s.groupWinner(at) == at
}

// keyWinner is the smallest row that may hold the key, or none.
func (s *Set) keyWinner(key Content) int32 {
	if key == (Content{}) {
		return none
	}
	best := none
	at, ok := s.byKey[key]
	for ; ok && at != none; at = s.rows[at].sameKey {
		if best != none && s.rows[best].id.compare(s.rows[at].id) < 0 {
			continue
		}
		if s.holdsKey(at, s.effects(s.rows[at].id)) {
			best = at
		}
	}
	return best
}
