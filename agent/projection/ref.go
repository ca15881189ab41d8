package projection

import (
	"cmp"
	"strings"

	"cairn/internal/event"
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// A ref is an event id as the 128 bits it stands for. It sorts as the id does.
type ref struct{ hi, lo uint64 }

// refOf reads the digits of an id or of the end of one; false if s has
// anything else in it.
func refOf(s string) (ref, bool) {
	var r ref
	for i := range len(s) {
		v := strings.IndexByte(alphabet, s[i])
		if v < 0 {
			return ref{}, false
		}
		r.hi = r.hi<<5 | r.lo>>59
		r.lo = r.lo<<5 | uint64(v)
	}
	return r, true
}

func fromID(id event.ID) ref {
	r, _ := refOf(string(id))
	return r
}

func (r ref) id() event.ID {
	var out [event.IDLen]byte
	hi, lo := r.hi, r.lo
	for i := event.IDLen - 1; i >= 0; i-- {
		out[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return event.ID(out[:])
}

func (r ref) millis() int64 { return int64(r.hi >> 16) }

func (r ref) compare(o ref) int {
	return cmp.Or(cmp.Compare(r.hi, o.hi), cmp.Compare(r.lo, o.lo))
}

// tail keeps the last n digits.
func (r ref) tail(n int) ref {
	bits := 5 * n
	switch {
	case bits >= 128:
		return r
	case bits >= 64:
		return ref{r.hi & (1<<(bits-64) - 1), r.lo}
	default:
		return ref{0, r.lo & (1<<bits - 1)}
	}
}

// head keeps the first n of the 26 digits.
func (r ref) head(n int) ref {
	bits := 5 * (event.IDLen - n)
	if bits >= 64 {
		return ref{0, r.hi >> (bits - 64)}
	}
	return ref{r.hi >> bits, r.lo>>bits | r.hi<<(64-bits)}
}
