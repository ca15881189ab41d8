package projection

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"cairn/agent/api"
	"cairn/internal/event"
)

// MinRef is how many characters of an id name its event at least.
const MinRef = 6

// LookupKey is the event that holds an idempotency key, with its content;
// false if the key is free: never used, or only by events that are redacted,
// archived, superseded or held.
func (s *Set) LookupKey(key string, v View) (event.ID, Content, bool) {
	at := s.lens(v).keyWinner(keyDigest(key))
	if at == none {
		return "", Content{}, false
	}
	return s.rows[at].id.id(), s.rows[at].content, true
}

// Said is an event that said this under this key, whatever it counts for now;
// false if there was none.
func (s *Set) Said(key string, content Content) (event.ID, bool) {
	at, ok := s.byKey[keyDigest(key)]
	for ; ok && at != none; at = s.rows[at].sameKey {
		if s.rows[at].content == content {
			return s.rows[at].id.id(), true
		}
	}
	return "", false
}

// Current is the event in force in a group, with its content: the newest that
// is neither redacted nor held. It may be archived or expired; Standing tells.
func (s *Set) Current(group string, v View) (event.ID, Content, bool) {
	g, ok := s.names.of(group)
	if !ok || g == 0 {
		return "", Content{}, false
	}
	at := s.lens(v).winnerOf(g)
	if at == none {
		return "", Content{}, false
	}
	return s.rows[at].id.id(), s.rows[at].content, true
}

// Kind is the kind of an event, empty if only a newer program understands it;
// false if the set does not have it.
func (s *Set) Kind(id event.ID) (event.Kind, bool) {
	at, ok := s.byID[fromID(id)]
	if !ok {
		return "", false
	}
	return kindOf(s.rows[at].kind), true
}

// Resolve finds the one event that ref names: an id, or MinRef or more
// characters of its start or its end, with or without a tilde in front.
// Errors: ErrShort, ErrUnknown, *AmbiguousError.
func (s *Set) Resolve(name string) (event.ID, error) {
	digits := strings.ToLower(strings.TrimPrefix(name, "~"))
	part, ok := refOf(digits)
	if !ok || len(digits) < MinRef || len(digits) > event.IDLen {
		return "", ErrShort
	}
	if len(digits) == event.IDLen && digits[0] > '7' {
		return "", ErrUnknown
	}
	found := s.fitting(part, len(digits))
	switch len(found) {
	case 0:
		return "", ErrUnknown
	case 1:
		return found[0], nil
	default:
		return "", &AmbiguousError{Ref: name, IDs: found}
	}
}

// fitting lists at most two events whose ids begin or end with the digits.
func (s *Set) fitting(part ref, digits int) []event.ID {
	var found []event.ID
	for i := range s.rows {
		r := s.rows[i].id
		if r.tail(digits) != part && r.head(digits) != part {
			continue
		}
		if found = append(found, r.id()); len(found) == 2 {
			break
		}
	}
	return found
}

// Each yields the events that pass the filter, newest first, whatever they
// count for. The filter's space is not looked at.
func (s *Set) Each(f api.Filter) iter.Seq[event.ID] {
	return func(yield func(event.ID) bool) {
		m, ok := s.matcher(f)
		if !ok {
			return
		}
		for _, at := range slices.Backward(s.order) {
			if m.fits(s, &s.rows[at]) && !yield(s.rows[at].id.id()) {
				return
			}
		}
	}
}

// EachStanding yields what Each yields, with what each event counts for.
func (s *Set) EachStanding(f api.Filter, v View) iter.Seq2[event.ID, Standing] {
	return func(yield func(event.ID, Standing) bool) {
		m, ok := s.matcher(f)
		if !ok {
			return
		}
		l := s.lens(v)
		for _, at := range slices.Backward(s.order) {
			if m.fits(s, &s.rows[at]) && !yield(s.rows[at].id.id(), l.standing(at)) {
				return
			}
		}
	}
}

// Fits says whether the event passes the filter.
func (s *Set) Fits(id event.ID, f api.Filter) bool {
	at, there := s.byID[fromID(id)]
	m, possible := s.matcher(f)
	return there && possible && m.fits(s, &s.rows[at])
}

// A matcher is a filter in the numbers of the set; 0 asks for nothing.
type matcher struct {
	kind                            uint8
	subject                         uint32
	harness, device, actor, project anyCase
	tags                            []string
	since, until                    int64
}

// matcher is false if no event can pass.
func (s *Set) matcher(f api.Filter) (matcher, bool) {
	m := matcher{
		kind: kindNumber(event.Kind(strings.ToLower(string(f.Kind)))), harness: newAnyCase(f.Harness), device: newDevice(f.Device),
		actor: newAnyCase(f.Actor), project: newAnyCase(f.Project), tags: f.Tags, until: forever,
	}
	subject, ok := s.names.of(f.Subject)
	m.subject = subject
	if f.Since != nil {
		m.since = f.Since.UnixMilli()
	}
	if f.Until != nil {
		m.until = f.Until.UnixMilli()
	}
	return m, ok && (f.Kind == "" || m.kind != 0)
}

func (m *matcher) fits(s *Set, r *row) bool {
	at := r.id.millis()
	return (m.kind == 0 || m.kind == r.kind) &&
		(m.subject == 0 || m.subject == r.subject) &&
		m.harness.is(&s.names, r.harness) &&
		m.device.is(&s.names, r.device) &&
		m.actor.is(&s.names, r.actor) &&
		m.project.is(&s.names, r.project) &&
		m.since <= at && at < m.until &&
		hasTags(s.names.text[r.tags], m.tags)
}

// Digest stands for every answer Standing gives in the view. Two sets with
// equal digests hold the same events and judge them alike.
func (s *Set) Digest(v View) [32]byte {
	h, l := sha256.New(), s.lens(v)
	for _, at := range s.order {
		r := &s.rows[at]
		st := l.standing(at)
		var fixed [16 + 16 + 16]byte
		binary.BigEndian.PutUint64(fixed[0:], r.id.hi)
		binary.BigEndian.PutUint64(fixed[8:], r.id.lo)
		copy(fixed[16:], r.content[:])
		copy(fixed[32:], r.key[:])
		h.Write(fixed[:])
		write(h, string(st.State), string(st.SupersededBy), string(st.Verdict))
	}
	return [32]byte(h.Sum(nil))
}

// Searchable yields the events that belong into a search index: those of a
// kind to be found, as finds says, unless they are redacted.
func (s *Set) Searchable(finds func(event.Kind) bool) iter.Seq[event.ID] {
	return func(yield func(event.ID) bool) {
		for i := range s.rows {
			r := &s.rows[i]
			if finds(kindOf(r.kind)) && !s.redacted(r.id) && !yield(r.id.id()) {
				return
			}
		}
	}
}
