package projection

import (
	"slices"
	"time"

	"cairn/internal/event"
)

// A Set holds the facts of one space. Any number of goroutines may ask it at
// once; Add must have it alone.
type Set struct {
	names   names
	rows    []row // in the order of arrival
	byID    map[ref]int32
	byKey   map[Content]int32 // the last row with the key; row.sameKey leads on
	actedOn map[ref]int32     // the last row that acts on the id; row.sameTarget leads on
	groups  map[uint32][]int32
	links   map[int32]link
	order   []int32 // rows by id
}

// A row is a fact with its strings as numbers.
type row struct {
	id, about                      ref
	content, key                   Content
	observed, validTo              int64
	group, subject, actor, harness uint32
	device, project, tags          uint32
	sameKey, sameTarget            int32 // the row before this one in its list, or none
	kind, class                    uint8
	act                            act
}

// A link is what few events have: where they come from.
type link struct{ parent, chain ref }

// none is no row.
const none int32 = -1

// NewSet is a set without facts.
func NewSet() *Set {
	return &Set{
		names: newNames(),
		byID:  map[ref]int32{}, byKey: map[Content]int32{}, actedOn: map[ref]int32{},
		groups: map[uint32][]int32{}, links: map[int32]link{},
	}
}

// grow makes room for n facts, which saves copying while they are added.
func (s *Set) grow(n int) {
	if len(s.rows) > 0 {
		return
	}
	s.rows = make([]row, 0, n)
	s.byID = make(map[ref]int32, n)
	s.byKey = make(map[Content]int32, n)
	s.order = make([]int32, 0, n)
}

// Add puts facts into the set, in any order; one that is there already
// changes nothing.
func (s *Set) Add(facts ...Fact) {
	before := len(s.rows)
	for i := range facts {
		if _, ok := s.byID[facts[i].id]; !ok {
			s.addRow(&facts[i])
		}
	}
	s.sortFrom(before)
}

func (s *Set) addRow(f *Fact) {
	at := int32(len(s.rows))
	r := row{
		id: f.id, about: f.about, content: f.content, key: f.key,
		observed: f.observed, validTo: f.validTo,
		group: s.names.add(f.group), subject: s.names.add(f.subject),
		actor: s.names.add(f.actor), harness: s.names.add(f.harness), device: s.names.add(f.device),
		project: s.names.add(f.project), tags: s.names.add(f.tags),
		sameKey: none, sameTarget: none, kind: f.kind, class: f.class, act: f.act,
	}
	s.byID[r.id] = at
	if r.key != (Content{}) {
		r.sameKey = push(s.byKey, r.key, at)
	}
	if r.act != actNone {
		r.sameTarget = push(s.actedOn, r.about, at)
	}
	if f.parent != (ref{}) || f.chain != (ref{}) {
		s.links[at] = link{f.parent, f.chain}
	}
	s.rows = append(s.rows, r)
	if r.group != 0 {
		s.groups[r.group] = s.insertSorted(s.groups[r.group], at)
	}
}

// push makes at the head of the list under k and returns the former head.
func push[K comparable](heads map[K]int32, k K, at int32) int32 {
	former, ok := heads[k]
	heads[k] = at
	if !ok {
		return none
	}
	return former
}

func (s *Set) insertSorted(list []int32, at int32) []int32 {
	i, _ := slices.BinarySearchFunc(list, s.rows[at].id, s.compareTo)
	return slices.Insert(list, i, at)
}

func (s *Set) compareTo(at int32, id ref) int { return s.rows[at].id.compare(id) }

// sortFrom puts the rows from the given one on into their place in the order.
func (s *Set) sortFrom(first int) {
	old := len(s.order)
	for at := first; at < len(s.rows); at++ {
		s.order = append(s.order, int32(at))
	}
	byID := func(a, b int32) int { return s.rows[a].id.compare(s.rows[b].id) }
	if slices.IsSortedFunc(s.order[max(old-1, 0):], byID) {
		return
	}
	added := slices.Clone(s.order[old:])
	slices.SortFunc(added, byID)
	s.merge(s.order[:old], added)
}

// merge joins two sorted lists, from their ends, into s.order, whose start
// the first one is.
func (s *Set) merge(sorted, added []int32) {
	i, j := len(sorted)-1, len(added)-1
	for k := len(s.order) - 1; j >= 0; k-- {
		if i >= 0 && s.compareTo(sorted[i], s.rows[added[j]].id) > 0 {
			s.order[k] = sorted[i]
			i--
		} else {
			s.order[k] = added[j]
			j--
		}
	}
}

// Count is the number of events.
func (s *Set) Count() int { return len(s.rows) }

// Has says whether the event is in the set.
func (s *Set) Has(id event.ID) bool {
	_, ok := s.byID[fromID(id)]
	return ok
}

// Newest is the greatest id that lies at most event.MaxAhead after now, the
// one the next id has to follow; empty if there is none.
func (s *Set) Newest(now time.Time) event.ID {
	limit := limitOf(now)
	for _, at := range slices.Backward(s.order) {
		if id := s.rows[at].id; id.millis() <= limit {
			return id.id()
		}
	}
	return ""
}

// CountBetween is the number of events whose ids lie in [from, to).
func (s *Set) CountBetween(from, to time.Time) int {
	return s.before(to) - s.before(from)
}

// NewestAt is the greatest id of the millisecond of t; empty if there is none.
func (s *Set) NewestAt(t time.Time) event.ID {
	t = t.Truncate(time.Millisecond)
	if i := s.before(t.Add(time.Millisecond)); i > s.before(t) {
		return s.rows[s.order[i-1]].id.id()
	}
	return ""
}

func (s *Set) before(t time.Time) int {
	i, _ := slices.BinarySearchFunc(s.order, ref{hi: uint64(max(t.UnixMilli(), 0)) << 16}, s.compareTo)
	return i
}

// Remove takes events out, as if they had never been there. It costs about as
// much as loading the set.
func (s *Set) Remove(ids ...event.ID) {
	gone := make(map[ref]bool, len(ids))
	for _, id := range ids {
		gone[fromID(id)] = true
	}
	rest := make([]Fact, 0, len(s.rows))
	for at := range s.rows {
		if !gone[s.rows[at].id] {
			rest = append(rest, s.fact(int32(at)))
		}
	}
	*s = *NewSet()
	s.grow(len(rest))
	s.Add(rest...)
}

// Facts lists what was added, in the order of arrival.
func (s *Set) Facts() []Fact {
	out := make([]Fact, len(s.rows))
	for at := range s.rows {
		out[at] = s.fact(int32(at))
	}
	return out
}

func (s *Set) fact(at int32) Fact {
	r, l, text := &s.rows[at], s.links[at], s.names.text
	return Fact{
		id: r.id, kind: r.kind, class: r.class, act: r.act, about: r.about, parent: l.parent, chain: l.chain,
		content: r.content, key: r.key, observed: r.observed, validTo: r.validTo,
		group: text[r.group], subject: text[r.subject], actor: text[r.actor], harness: text[r.harness],
		device: text[r.device], project: text[r.project], tags: text[r.tags],
	}
}
