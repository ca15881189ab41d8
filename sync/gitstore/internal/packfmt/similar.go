package packfmt

import "encoding/binary"

const (
	// minMatch is the shortest match that is worth a copy instruction: what it replaces also takes, compressed, about half
	// of its length.
	minMatch = 12
	// maxSimilar bounds a base: its places are kept in 16 bits.
	maxSimilar = 1<<16 - 1
	tableBits  = 12
)

// A Similar finds in other objects what they have in common with one, wherever it stands. It is made once for a base, and
// is not safe for concurrent use.
type Similar struct {
	base []byte
	head [1 << tableBits]uint16 // the last place with a hash, plus one
	prev []uint16               // the place before it, plus one
}

// NewSimilar is for a base that is not changed afterwards; nil for one that is too long or too short to be of use.
func NewSimilar(base []byte) *Similar {
	if len(base) > maxSimilar || len(base) < minMatch {
		return nil
	}
	s := &Similar{base: base, prev: make([]uint16, len(base))}
	for at := range len(base) - 3 {
		slot := &s.head[hashAt(base[at:])]
		s.prev[at], *slot = *slot, uint16(at+1)
	}
	return s
}

// Base is what the deltas are of.
func (s *Similar) Base() []byte { return s.base }

func hashAt(b []byte) uint32 {
	return binary.LittleEndian.Uint32(b) * 2654435761 >> (32 - tableBits)
}

// maxTries is how many places of a base are looked at for one place of a target.
const maxTries = 16

// Delta returns a delta that makes target of the base.
func (s *Similar) Delta(target []byte) []byte {
	d := appendDeltaSize(make([]byte, 0, len(target)/2), len(s.base))
	d = appendDeltaSize(d, len(target))
	done := 0 // target[:done] is in d
	for at := 0; at+minMatch <= len(target); {
		from, n := s.longest(target, at)
		if n < minMatch {
			at++
			continue
		}
		back := commonSuffixLen(s.base[:from], target[done:at])
		from, at, n = from-back, at-back, n+back
		d = appendInsert(d, target[done:at])
		d = appendCopy(d, from, n)
		at += n
		done = at
	}
	return appendInsert(d, target[done:])
}

// longest returns where in the base the longest match for target[at:] begins, among those that are looked at.
func (s *Similar) longest(target []byte, at int) (from, length int) {
	next := s.head[hashAt(target[at:])]
	for try := 0; next > 0 && try < maxTries; try++ {
		place := int(next) - 1
		n := min(len(s.base)-place, len(target)-at)
		if k := commonPrefix(s.base[place:place+n], target[at:at+n]); k > length {
			from, length = place, k
		}
		next = s.prev[place]
	}
	return from, length
}

func commonSuffixLen(a, b []byte) int {
	n := min(len(a), len(b))
	return commonSuffix(a[len(a)-n:], b[len(b)-n:])
}
