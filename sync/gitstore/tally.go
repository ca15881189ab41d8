package gitstore

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Tally sums up a set of objects: their number, and the sum of their ids as numbers of 160 bits. Two sets with equal
// tallies hold the same objects, unless somebody finds ids to make it otherwise: what may be added to a repository has
// to be decided elsewhere. A Tally can be compared with ==.
type Tally struct {
	Objects int
	sum     [3]uint64 // the low half first; the last holds 32 bits
}

// Add takes in one more object.
func (t *Tally) Add(h plumbing.Hash) {
	t.Join(Tally{1, [3]uint64{
		binary.BigEndian.Uint64(h[12:]), binary.BigEndian.Uint64(h[4:]), uint64(binary.BigEndian.Uint32(h[:])),
	}})
}

// Join takes in the objects of another set that has none in common with this one.
func (t *Tally) Join(o Tally) {
	var carry uint64
	t.Objects += o.Objects
	t.sum[0], carry = bits.Add64(t.sum[0], o.sum[0], 0)
	t.sum[1], carry = bits.Add64(t.sum[1], o.sum[1], carry)
	t.sum[2] = (t.sum[2] + o.sum[2] + carry) & (1<<32 - 1)
}

// MarshalText makes one word of the number and one of the sum.
func (t Tally) MarshalText() ([]byte, error) {
	var sum [20]byte
	binary.BigEndian.PutUint32(sum[:], uint32(t.sum[2]))
	binary.BigEndian.PutUint64(sum[4:], t.sum[1])
	binary.BigEndian.PutUint64(sum[12:], t.sum[0])
	return fmt.Appendf(nil, "%d %x", t.Objects, sum), nil
}

// UnmarshalText reads what MarshalText writes.
func (t *Tally) UnmarshalText(text []byte) error {
	var n int
	var sum string
	if _, err := fmt.Sscanf(string(text), "%d %s", &n, &sum); err != nil || n < 0 {
		return errTally
	}
	b, err := hex.DecodeString(sum)
	if err != nil || len(b) != 20 {
		return errTally
	}
	*t = Tally{}
	t.Add(plumbing.Hash(b))
	t.Objects = n
	return nil
}

var errTally = errors.New("this is no tally")
