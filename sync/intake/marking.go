package intake

import "github.com/go-git/go-git/v5/plumbing"

// A marking is a set of objects. Those that arrived take a bit each: there may
// be a million of them.
type marking struct {
	in   Incoming
	bits []uint64
	rest map[plumbing.Hash]bool // that did not arrive
}

func newMarking(in Incoming) *marking {
	return &marking{in: in, rest: map[plumbing.Hash]bool{}}
}

func (m *marking) add(h plumbing.Hash) {
	n, ok := m.in.Number(h)
	if !ok {
		m.rest[h] = true
		return
	}
	for n/64 >= len(m.bits) {
		m.bits = append(m.bits, 0)
	}
	m.bits[n/64] |= 1 << (n % 64)
}

func (m *marking) has(h plumbing.Hash) bool {
	n, ok := m.in.Number(h)
	if !ok {
		return m.rest[h]
	}
	return n/64 < len(m.bits) && m.bits[n/64]&(1<<(n%64)) != 0
}
