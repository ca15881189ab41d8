package projection

import (
	"slices"
	"time"

	"cairn/internal/event"
)

// A View is the moment at which a Set is asked, and the machine that asks.
//
// An event whose id lies more than event.MaxAhead after the moment is ahead:
// the clock of its writer is fast, or that of the machine is slow. Until its
// time has come it is held: it has no part in the answers, except on the
// machine that wrote it, which keeps finding what it saved; there too it never
// takes the place of an event that is not ahead. A redaction is never held,
// since hiding does not depend on any order.
type View struct {
	Now    time.Time
	Device event.DeviceID // of the machine; empty for none
	// Over says whether an event is no longer kept at the moment Now, by its
	// class or "" if that was not noted; nil if everything is kept.
	Over func(event.ID, event.Kind, event.Classification) bool
}

// A lens is a view in the numbers of a set.
type lens struct {
	*Set
	now, limit int64 // Unix milliseconds; what is later than limit is ahead
	device     uint32
	over       func(event.ID, event.Kind, event.Classification) bool
}

func (s *Set) lens(v View) lens {
	device, _ := s.names.of(string(v.Device))
	return lens{s, v.Now.UnixMilli(), limitOf(v.Now), device, v.Over}
}

// expired says whether the time of the row is over.
func (l lens) expired(r *row) bool {
	return r.validTo <= l.now || l.over != nil && l.over(r.id.id(), kindOf(r.kind), classOf(r.class))
}

func limitOf(now time.Time) int64 { return now.Add(event.MaxAhead).UnixMilli() }

func (l lens) ahead(r *row) bool { return r.id.millis() > l.limit && r.act != actRedact }

func (l lens) held(r *row) bool { return l.ahead(r) && (l.device == 0 || l.device != r.device) }

// outranks says whether a counts before b where the newest decides.
func (l lens) outranks(a, b int32) bool {
	x, y := &l.rows[a], &l.rows[b]
	if l.ahead(x) != l.ahead(y) {
		return l.ahead(y)
	}
	return x.id.compare(y.id) > 0
}

// Ahead lists the events that are ahead at the moment now, whoever wrote them,
// oldest first, without redactions.
func (s *Set) Ahead(now time.Time) []event.ID {
	l := s.lens(View{Now: now})
	var ids []event.ID
	for _, at := range slices.Backward(s.order) {
		r := &s.rows[at]
		if r.id.millis() <= l.limit {
			break
		}
		if l.ahead(r) {
			ids = append(ids, r.id.id())
		}
	}
	slices.Reverse(ids)
	return ids
}
