package eventlog

import (
	"encoding/binary"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
)

// A record is what one append puts into the write-ahead log: enough to make its commits again.
type record struct {
	pack   plumbing.Hash // the pack that was written without waiting
	events []recorded    // at least one
}

// recordedExtra is at least what a record needs for each event besides its bytes.
const recordedExtra = 32

// A recorded is an event and the commit that has added it.
type recorded struct {
	commit plumbing.Hash
	bytes  []byte
}

func (r record) tip() plumbing.Hash { return r.events[len(r.events)-1].commit }

// formVersion begins marks and records.
const formVersion = 1

var (
	errForm    = errors.New("it holds what this version of cairn does not know")
	errNoChain = errors.New("its two files do not follow each other")
	errCommits = errors.New("the commits that are made of it are others than it says")
)

func (r record) encode() []byte {
	b := append([]byte{formVersion}, r.pack[:]...)
	b = binary.AppendUvarint(b, uint64(len(r.events)))
	for _, e := range r.events {
		b = append(b, e.commit[:]...)
		b = binary.AppendUvarint(b, uint64(len(e.bytes)))
		b = append(b, e.bytes...)
	}
	return b
}

// decodeRecord keeps parts of b.
func decodeRecord(b []byte) (record, error) {
	d := decoder{b: b}
	var r record
	if d.byte() != formVersion {
		return r, errForm
	}
	r.pack = d.hash()
	for n := d.number(); n > 0 && !d.failed; n-- {
		r.events = append(r.events, recorded{d.hash(), d.bytes(d.number())})
	}
	if d.failed || len(d.b) > 0 || len(r.events) == 0 {
		return record{}, errForm
	}
	return r, nil
}

// A mark says where the records of a segment begin. The zero mark is that of a segment that is not in use.
type mark struct {
	seq  uint64        // of two segments in use the greater one follows the other
	base plumbing.Hash // the head that the first record follows; it is durable, or the other segment leads there
	boot string        // the start of the system during which it is written
}

func (m mark) isZero() bool { return m.seq == 0 }

func (m mark) encode() []byte {
	b := binary.AppendUvarint([]byte{formVersion}, m.seq)
	b = append(b, m.base[:]...)
	return append(b, m.boot...)
}

func decodeMark(b []byte) (mark, error) {
	if len(b) == 0 {
		return mark{}, nil
	}
	d := decoder{b: b}
	if d.byte() != formVersion {
		return mark{}, errForm
	}
	m := mark{seq: d.number(), base: d.hash()}
	m.boot = string(d.b)
	if d.failed || m.isZero() {
		return mark{}, errForm
	}
	return m, nil
}

// A decoder takes values off b. When b is too short it fails, and returns zeros from then on.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) bytes(n uint64) []byte {
	if d.failed || n > uint64(len(d.b)) {
		d.failed = true
		return nil
	}
	taken := d.b[:n:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) hash() (h plumbing.Hash) {
	copy(h[:], d.bytes(uint64(len(h))))
	return h
}

func (d *decoder) number() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.bytes(uint64(n))
	return x
}
