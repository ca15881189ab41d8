package onnx

import (
	"encoding/binary"
	"errors"
	"math"
)

// The kinds of fields in Protocol Buffers' wire format.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

var errWire = errors.New("is cut off, or no model")

// A field is one of a message. Bytes lie in the message itself.
type field struct {
	number int
	wire   int
	value  uint64 // of all but wireBytes
	bytes  []byte
}

// fields calls fn with each field of a message until it returns an error.
func fields(message []byte, fn func(field) error) error {
	for len(message) > 0 {
		f, n, err := nextField(message)
		if err != nil {
			return err
		}
		message = message[n:]
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

func nextField(b []byte) (f field, n int, err error) {
	key, n := binary.Uvarint(b)
	if n <= 0 || key>>3 == 0 || key>>3 > math.MaxInt32 {
		return f, 0, errWire
	}
	f.number, f.wire = int(key>>3), int(key&7)
	rest := b[n:]
	size := 0
	switch f.wire {
	case wireVarint:
		if f.value, size = binary.Uvarint(rest); size <= 0 {
			return f, 0, errWire
		}
	case wire64:
		if size = 8; len(rest) < size {
			return f, 0, errWire
		}
		f.value = binary.LittleEndian.Uint64(rest)
	case wire32:
		if size = 4; len(rest) < size {
			return f, 0, errWire
		}
		f.value = uint64(binary.LittleEndian.Uint32(rest))
	case wireBytes:
		length, m := binary.Uvarint(rest)
		if m <= 0 || length > uint64(len(rest)-m) {
			return f, 0, errWire
		}
		size = m + int(length)
		f.bytes = rest[m:size]
	default:
		return f, 0, errWire
	}
	return f, n + size, nil
}

// A repeated field of numbers comes one by one or packed together; each calls
// fn for all of them.
func (f field) each(wire int, fn func(uint64)) error {
	if f.wire == wire {
		fn(f.value)
		return nil
	}
	if f.wire != wireBytes {
		return errWire
	}
	for b := f.bytes; len(b) > 0; {
		var v uint64
		n := 0
		switch {
		case wire == wireVarint:
			v, n = binary.Uvarint(b)
		case wire == wire32 && len(b) >= 4:
			v, n = uint64(binary.LittleEndian.Uint32(b)), 4
		case wire == wire64 && len(b) >= 8:
			v, n = binary.LittleEndian.Uint64(b), 8
		}
		if n <= 0 {
			return errWire
		}
		fn(v)
		b = b[n:]
	}
	return nil
}

// expect is an error unless the field has the kind that its number should
// have.
func (f field) expect(wire int) error {
	if f.wire != wire {
		return errWire
	}
	return nil
}
