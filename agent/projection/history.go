package projection

import (
	"slices"

	"cairn/internal/event"
)

// maxHistory bounds a chain; the nearest events are kept.
const maxHistory = 1000

// History is the chain of an event, itself included, oldest first: what it
// took the place of and what took its place, the other settings of its
// preference or claim, what shares its chain or comes from it, and every act
// on one of these.
func (s *Set) History(id event.ID) []event.ID {
	first, ok := s.byID[fromID(id)]
	if !ok {
		return nil
	}
	from := s.linksTo()
	seen := map[int32]bool{first: true}
	for queue := []int32{first}; len(queue) > 0 && len(seen) < maxHistory; queue = queue[1:] {
		for _, at := range s.related(queue[0], from) {
			if !seen[at] {
				seen[at] = true
				queue = append(queue, at)
			}
		}
	}
	var out []event.ID
	for at := range seen {
		out = append(out, s.rows[at].id.id())
	}
	slices.Sort(out)
	return out
}

// linksTo lists, for each id, the rows that name it as parent or chain.
func (s *Set) linksTo() map[ref][]int32 {
	out := map[ref][]int32{}
	for at, l := range s.links {
		for _, r := range []ref{l.parent, l.chain} {
			if r != (ref{}) {
				out[r] = append(out[r], at)
			}
		}
	}
	return out
}

func (s *Set) related(at int32, from map[ref][]int32) []int32 {
	r := &s.rows[at]
	out := append([]int32{}, s.groups[r.group]...)
	for by := s.firstActOn(r.id); by != none; by = s.rows[by].sameTarget {
		out = append(out, by)
	}
	out = append(out, from[r.id]...)
	l := s.links[at]
	for _, to := range []ref{r.about, l.parent, l.chain} {
		if there, ok := s.byID[to]; ok && to != (ref{}) {
			out = append(out, there)
		}
	}
	if l.chain != (ref{}) {
		out = append(out, from[l.chain]...)
	}
	return out
}

// Done is an event that has already done what f would do: the redaction of
// the same event, or the newest act that archived or restored it. What only
// repeats it changes nothing.
func (s *Set) Done(f Fact, v View) (event.ID, bool) {
	var at int32
	switch f.act {
	case actRedact:
		at = s.redaction(f.about)
	case actArchive, actRestore:
		at = s.lens(v).archiving(f.about)
	default:
		return "", false
	}
	if at == none || s.rows[at].act != f.act {
		return "", false
	}
	return s.rows[at].id.id(), true
}

func (l lens) archiving(id ref) int32 {
	best := none
	for at := l.firstActOn(id); at != none; at = l.rows[at].sameTarget {
		switch l.rows[at].act {
		case actArchive, actRestore, actRetire:
			best = l.newer(best, at)
		}
	}
	return best
}

func (s *Set) redaction(id ref) int32 {
	for at := s.firstActOn(id); at != none; at = s.rows[at].sameTarget {
		if s.rows[at].act == actRedact {
			return at
		}
	}
	return none
}

// Group is the name under which events replace each other that f belongs to,
// such as PrefGroup; empty if it belongs to none.
func (f Fact) Group() string { return f.group }

// Content is what the event says.
func (f Fact) Content() Content { return f.content }

// Acts says whether the event changes what another one counts for.
func (f Fact) Acts() bool { return f.act != actNone }
