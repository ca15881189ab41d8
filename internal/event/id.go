package event

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"
	"strings"
	"time"
)

// An ID names one event: a ULID (github.com/ulid/spec) in lower case, 48 bits
// of Unix milliseconds and 80 bits that are random or counted up in random
// steps. IDs sort as strings in the order of their times.
type ID string

// IDLen is the length of an ID in characters.
const IDLen = 26

const (
	crockford = "0123456789abcdefghjkmnpqrstvwxyz"
	// maxMillis is the last moment of the year 9999. A ULID goes on for another
	// nine centuries, which the times in events and the paths of files cannot
	// write.
	maxMillis = 253_402_300_799_999
)

// lastTime is how ids of the last moment begin.
var lastTime = string(makeID(time.UnixMilli(maxMillis), [10]byte{})[:10])

var errID = errors.New("an event id is 26 characters of lower-case Crockford base 32, of a time before the year 10000")

// ParseID checks the form of s. It does not say whether such an event exists.
func ParseID(s string) (ID, error) {
	if len(s) != IDLen || s[:10] > lastTime {
		return "", errID
	}
	for i := range len(s) {
		if strings.IndexByte(crockford, s[i]) < 0 {
			return "", errID
		}
	}
	return ID(s), nil
}

// Time is the moment in the ID, in UTC, to the millisecond. An ID that
// ParseID would refuse has the zero time.
func (id ID) Time() time.Time {
	if _, err := ParseID(string(id)); err != nil {
		return time.Time{}
	}
	var ms int64
	for i := range 10 {
		ms = ms<<5 | int64(strings.IndexByte(crockford, id[i]))
	}
	return time.UnixMilli(ms).UTC()
}

// Short is how lists show an ID: a tilde and its last eight characters, the
// part in which two events of one moment differ.
func (id ID) Short() string {
	if len(id) < 8 {
		return string(id)
	}
	return "~" + string(id[len(id)-8:])
}

// NewID makes an ID of the moment t with a random tail. Times before 1970 and
// after 9999 are moved to the nearest end of that range.
func NewID(t time.Time) ID {
	var tail [10]byte
	rand.Read(tail[:]) // never fails: crypto/rand ends the process instead
	return makeID(t, tail)
}

// DerivedID is the ID of the moment t that belongs to a text: the same for the
// same two, and another for any other text.
func DerivedID(t time.Time, text string) ID {
	sum := sha256.Sum256([]byte(text))
	return makeID(t, [10]byte(sum[:10]))
}

func makeID(t time.Time, tail [10]byte) ID {
	ms := min(max(t.UnixMilli(), 0), maxMillis)
	var out [IDLen]byte
	for i := 9; i >= 0; i-- {
		out[i] = crockford[ms&31]
		ms >>= 5
	}
	var acc, bits uint
	k := 10
	for _, b := range tail {
		acc = acc<<8 | uint(b)
		for bits += 8; bits >= 5; bits -= 5 {
			out[k] = crockford[acc>>(bits-5)&31]
			k++
		}
	}
	return ID(out[:])
}

// next is an ID that follows id within the same millisecond; false when the
// tail is used up. The step is random: two machines that have seen the same
// newest ID, and whose clocks are behind it, must not count to the same one.
func (id ID) next() (ID, bool) {
	var hi, lo uint64 // of the tail
	for i := 10; i < IDLen; i++ {
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(strings.IndexByte(crockford, id[i]))
	}
	var step [8]byte
	rand.Read(step[1:])
	lo, carry := bits.Add64(lo, binary.BigEndian.Uint64(step[:])+1, 0)
	hi += carry
	var tail [10]byte
	binary.BigEndian.PutUint16(tail[:], uint16(hi))
	binary.BigEndian.PutUint64(tail[2:], lo)
	return makeID(id.Time(), tail), hi>>16 == 0
}

// MaxAhead is how far the time of an ID may lie ahead of this machine's clock
// before its event is held back and no longer moves the clock.
const MaxAhead = 10 * time.Minute

// NextID is the ID of a live event: later than newest, the greatest ID seen
// so far (or empty), and not before now. A newest that lies more than MaxAhead
// in the future is not followed.
func NextID(now time.Time, newest ID) ID {
	if newest == "" || newest.Time().Sub(now) > MaxAhead || newest.Time().Before(now.Truncate(time.Millisecond)) {
		return NewID(now)
	}
	if id, ok := newest.next(); ok {
		return id
	}
	return NewID(newest.Time().Add(time.Millisecond))
}
