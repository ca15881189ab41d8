package projection

import (
	"slices"

	"cairn/agent/api"
	"cairn/internal/event"
)

// A Standing is what one event counts for.
type Standing struct {
	State        api.State
	SupersededBy event.ID      // set for every superseded event, also if it is archived or redacted
	Verdict      event.Verdict // of the newest verification that is not redacted
}

// Standing is what the event counts for in the view; false if the set does not
// have it.
//
// A redaction always holds and is never undone. An event is superseded by one
// that names it, unless that one is redacted; by a newer preference or claim
// of its group that is not redacted; and, under one idempotency key, by the
// smallest id that is not redacted, archived or superseded in one of the first
// two ways. It is archived if the newest unredacted act says so.
func (s *Set) Standing(id event.ID, v View) (Standing, bool) {
	at, ok := s.byID[fromID(id)]
	if !ok {
		return Standing{}, false
	}
	return s.lens(v).standing(at), true
}

// Visible says whether the event is to be shown by default: it is in the set
// and live.
func (s *Set) Visible(id event.ID, v View) bool {
	st, ok := s.Standing(id, v)
	return ok && st.State == api.Live
}

// Redacted says whether the event's text must not be shown. It may be asked
// about an event that is not here yet.
func (s *Set) Redacted(id event.ID) bool { return s.redacted(fromID(id)) }

// Refuted says whether the event's newest verification refutes it.
func (s *Set) Refuted(id event.ID, v View) bool {
	return s.lens(v).effects(fromID(id)).verdict == event.Refuted
}

func (l lens) standing(at int32) Standing {
	r := &l.rows[at]
	e := l.effects(r.id)
	st := Standing{State: api.Live, Verdict: e.verdict}
	held, by := l.held(r), none
	if !held {
		by = l.successor(at, e)
	}
	if by != none {
		st.SupersededBy = l.rows[by].id.id()
	}
	switch {
	case e.redacted:
		st.State = api.Redacted
	case held:
		st.State = api.Held
	case e.archived || r.act == actRetire:
		st.State = api.Archived
	case by != none:
		st.State = api.Superseded
	case l.expired(r):
		st.State = api.Expired
	}
	return st
}

// successor is the row that stands in the place of at, or none.
func (l lens) successor(at int32, e effects) int32 {
	if e.superseder != none {
		return e.superseder
	}
	if by := l.groupWinner(at); by != at {
		return by
	}
	if l.sharesKey(at) && l.holdsKey(at, e) {
		if by := l.keyWinner(l.rows[at].key); by != at {
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

func (l lens) effects(id ref) effects {
	superseder, archive, verdict := none, none, none
	e := effects{}
	for at := l.firstActOn(id); at != none; at = l.rows[at].sameTarget {
		switch l.rows[at].act {
		case actRedact:
			e.redacted = true
		case actSupersede:
			superseder = l.newer(superseder, at)
		case actArchive, actRestore, actRetire:
			archive = l.newer(archive, at)
		default:
			verdict = l.newer(verdict, at)
		}
	}
	e.superseder = superseder
	if archive != none {
		e.archived = l.rows[archive].act != actRestore
	}
	if verdict != none {
		e.verdict = l.rows[verdict].act.verdict()
	}
	return e
}

// newer is the one of the two rows that decides, of those that are neither
// redacted nor held; best may be none.
func (l lens) newer(best, at int32) int32 {
	if best != none && l.outranks(best, at) {
		return best
	}
	if r := &l.rows[at]; l.held(r) || l.redacted(r.id) {
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

// groupWinner is the newest row of at's group that is neither redacted nor
// held. It is at itself where the question does not arise.
func (l lens) groupWinner(at int32) int32 {
	if g := l.rows[at].group; g != 0 {
		if by := l.winnerOf(g); by != none {
			return by
		}
	}
	return at
}

func (l lens) winnerOf(group uint32) int32 {
	best := none
	for _, at := range slices.Backward(l.groups[group]) {
		if best = l.newer(best, at); best != none && !l.ahead(&l.rows[best]) {
			break
		}
	}
	return best
}

// holdsKey says whether at may hold its key. What was superseded by its group
// does not: otherwise the key's winner and the group's could be superseded by
// each other, and neither would hold.
func (l lens) holdsKey(at int32, e effects) bool {
	r := &l.rows[at]
	return !e.redacted && !e.archived && r.act != actRetire && e.superseder == none && !l.held(r) && l.groupWinner(at) == at
}

// keyWinner is the smallest row that may hold the key, or none.
func (l lens) keyWinner(key Content) int32 {
	if key == (Content{}) {
		return none
	}
	best := none
	at, ok := l.byKey[key]
	for ; ok && at != none; at = l.rows[at].sameKey {
		if best != none && l.rows[best].id.compare(l.rows[at].id) < 0 {
			continue
		}
		if l.holdsKey(at, l.effects(l.rows[at].id)) {
			best = at
		}
	}
	return best
}
