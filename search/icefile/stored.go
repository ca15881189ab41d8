package icefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/golang/snappy"
)

// A Value is a stored value of a document.
type Value struct {
	Field string
	Bytes []byte
}

var errStored = errors.New("the stored values of a segment are damaged")

// A room is where the stored values of a document are unpacked.
type room struct {
	data   []byte
	values []Value
}

var rooms = sync.Pool{New: func() any { return &room{} }}

// Stored calls fn with the stored values of a document, in the order of the
// fields. They are gone when it returns.
//
// ice lends one value after the other, and so no two of them to be looked at
// together. It also makes room for as much as damaged bytes ask for.
func (d *Dictionary) Stored(doc uint32, fn func([]Value)) error {
	if uint64(doc) >= d.segment.Count() {
		return errOutside
	}
	meta, packed, err := d.segment.storedOf(doc)
	if err != nil {
		return err
	}
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	if err := r.unpack(packed); err != nil {
		return err
	}
	if err := r.divide(d.segment.Fields(), meta); err != nil {
		return err
	}
	fn(r.values)
	return nil
}

// maxPacking is how many times as long as they are packed bytes can be: snappy
// repeats up to 64 with three.
const maxPacking = 64

func (r *room) unpack(packed []byte) error {
	n, err := snappy.DecodedLen(packed)
	if err != nil || n > maxPacking*len(packed) {
		return errStored
	}
	data, err := snappy.Decode(r.data[:cap(r.data)], packed)
	if err != nil {
		return fmt.Errorf("unpack stored values: %w", err)
	}
	r.data = data
	return nil
}

func (r *room) divide(fields []string, meta []byte) error {
	r.values = r.values[:0]
	for len(meta) > 0 {
		at, rest, err := readPlace(meta)
		if err != nil {
			return err
		}
		end := uint64(len(r.data))
		if at.field >= uint64(len(fields)) || at.start > end || at.size > end-at.start {
			return errStored
		}
		r.values = append(r.values, Value{fields[at.field], r.data[at.start:][:at.size]})
		meta = rest
	}
	return nil
}

// A place is where a stored value is in what all of a document are unpacked to.
type place struct{ field, start, size uint64 }

// readPlace reads the first of some places.
func readPlace(meta []byte) (p place, rest []byte, err error) {
	for _, to := range []*uint64{&p.field, &p.start, &p.size} {
		v, n := binary.Uvarint(meta)
		if n <= 0 {
			return p, nil, errStored
		}
		*to, meta = v, meta[n:]
	}
	return p, meta, nil
}
