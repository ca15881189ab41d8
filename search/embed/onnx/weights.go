package onnx

import (
	"encoding/binary"
	"math"
)

// The element types of the format that are read.
const (
	typeFloat   = 1
	typeUint8   = 2
	typeInt8    = 3
	typeInt32   = 6
	typeInt64   = 7
	typeBool    = 9
	typeFloat16 = 10
	typeDouble  = 11
)

func kindOf(elementType int64) (Kind, bool) {
	switch elementType {
	case typeFloat, typeFloat16, typeDouble:
		return Float, true
	case typeUint8, typeInt8, typeInt32, typeInt64:
		return Int, true
	case typeBool:
		return Bool, true
	}
	return 0, false
}

// width is how many bytes an element takes in raw data.
func width(elementType int64) int {
	switch elementType {
	case typeUint8, typeInt8, typeBool:
		return 1
	case typeFloat16:
		return 2
	case typeFloat, typeInt32:
		return 4
	}
	return 8
}

// stored is a tensor as the file has it.
type stored struct {
	name     string
	dims     []int
	typ      int64
	raw      []byte
	hasRaw   bool
	numbers  []field // of the fields float_data, int32_data, int64_data and double_data
	external bool
}

// maxFields is how many fields of numbers a tensor may be in. Most have one.
const maxFields = 1 << 16

func parseStored(b []byte) (s stored, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			return f.each(wireVarint, func(v uint64) {
				if len(s.dims) <= maxRank { // one more than that is refused by sizeOf
					s.dims = append(s.dims, clampInt(v))
				}
			})
		case 2:
			s.typ = int64(f.value)
		case 4, 5, 7, 10:
			if len(s.numbers) == maxFields {
				return faulty("has a tensor in more than %d pieces", maxFields)
			}
			s.numbers = append(s.numbers, f)
		case 8:
			s.name = string(f.bytes)
		case 9:
			s.raw, s.hasRaw = f.bytes, true
			return f.expect(wireBytes)
		case 13, 14: // where the data lies, or that it lies elsewhere
			s.external = s.external || f.number == 13 || f.value == 1
		}
		return nil
	})
	return s, err
}

// clampInt is a length as an int, one out of reach for any that no tensor can
// have.
func clampInt(v uint64) int {
	if v > math.MaxInt32 {
		return -1
	}
	return int(v)
}

// tensor is the weights themselves. It takes memory for elements that are
// there.
func (s *stored) tensor() (*Tensor, error) {
	if s.external {
		return nil, faulty("keeps its weights in another file; export it as one file")
	}
	kind, ok := kindOf(s.typ)
	if !ok {
		return nil, faulty("has weights of element type %d, which is not known", s.typ)
	}
	size, err := sizeOf(s.dims)
	if err != nil {
		return nil, faulty("%v", err)
	}
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	if values.count != size {
		return nil, faulty("declares %d elements of a tensor and holds %d", size, values.count)
	}
	t := &Tensor{Shape: s.dims, Kind: kind}
	if kind == Float {
		t.Floats = make([]float32, 0, size)
		err = values.each(func(bits uint64) { t.Floats = append(t.Floats, floatOf(s.typ, bits)) })
	} else {
		t.Ints = make([]int64, 0, size)
		err = values.each(func(bits uint64) { t.Ints = append(t.Ints, intOf(s.typ, bits)) })
	}
	return t, err
}

// elements is the elements of a stored tensor, as bits.
type elements struct {
	count int
	each  func(fn func(bits uint64)) error
}

// values reads them where they are, in raw data or in a field of numbers.
func (s *stored) values() (elements, error) {
	if s.hasRaw {
		w := width(s.typ)
		if len(s.raw)%w != 0 {
			return elements{}, errWire
		}
		return elements{len(s.raw) / w, func(fn func(uint64)) error {
			for b := s.raw; len(b) > 0; b = b[w:] {
				fn(rawBits(b, w))
			}
			return nil
		}}, nil
	}
	e := elements{each: func(fn func(uint64)) error {
		for _, f := range s.numbers {
			if err := f.each(wireOf(f.number), fn); err != nil {
				return err
			}
		}
		return nil
	}}
	err := e.each(func(uint64) { e.count++ })
	return e, err
}

func wireOf(number int) int {
	switch number {
	case 4:
		return wire32
	case 10:
		return wire64
	}
	return wireVarint
}

func rawBits(b []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func floatOf(typ int64, bits uint64) float32 {
	switch typ {
	case typeFloat16:
		return half(uint16(bits))
	case typeDouble:
		return float32(math.Float64frombits(bits))
	}
	return math.Float32frombits(uint32(bits))
}

func intOf(typ int64, bits uint64) int64 {
	switch typ {
	case typeUint8:
		return int64(uint8(bits))
	case typeInt8:
		return int64(int8(bits))
	case typeInt32:
		return int64(int32(bits))
	case typeBool:
		return truth(uint8(bits) != 0)
	}
	return int64(bits)
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// half is a 16-bit float (IEEE 754 binary16).
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0: // the value of its last place is 2^-24
		return float32(math.Copysign(math.Ldexp(float64(fraction), -24), float64(1-2*int(h>>15))))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
