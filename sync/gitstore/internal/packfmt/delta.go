package packfmt

import "fmt"

// DeltaSizes returns the sizes that a delta claims for its base and for its result.
func DeltaSizes(delta []byte) (base, result int64, err error) {
	base, rest, err := deltaSize(delta)
	if err != nil {
		return 0, 0, err
	}
	result, _, err = deltaSize(rest)
	return base, result, err
}

func deltaSize(b []byte) (size int64, rest []byte, err error) {
	for shift := 0; ; shift += 7 {
		if len(b) == 0 || shift > 49 {
			return 0, nil, fmt.Errorf("%w delta: a size without end", ErrMalformed)
		}
		c := b[0]
		b = b[1:]
		size |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			return size, b, nil
		}
	}
}

// ApplyDelta returns what delta makes of base. The memory it takes is bounded by the size that DeltaSizes returns for the
// result, which the caller has checked, and, but for the first megabyte, by what the delta really makes.
func ApplyDelta(base, delta []byte) ([]byte, error) {
	baseSize, rest, err := deltaSize(delta)
	if err != nil {
		return nil, err
	}
	size, ops, err := deltaSize(rest)
	if err != nil {
		return nil, err
	}
	if baseSize != int64(len(base)) {
		return nil, fmt.Errorf("%w delta: for a base of %d bytes, not %d", ErrMalformed, baseSize, len(base))
	}
	out := make([]byte, 0, min(size, trusted))
	for len(ops) > 0 {
		var piece []byte
		if ops[0]&0x80 != 0 {
			piece, ops, err = copyOp(base, ops)
		} else {
			piece, ops, err = insertOp(ops)
		}
		if err != nil {
			return nil, err
		}
		if int64(len(piece)) > size-int64(len(out)) {
			return nil, fmt.Errorf("%w delta: more than the %d bytes it claims", ErrMalformed, size)
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("%w delta: %d bytes of the %d it claims", ErrMalformed, len(out), size)
	}
	return out, nil
}

// copyOp decodes the instruction at the start of ops: its low seven bits say which bytes of offset and size follow.
func copyOp(base, ops []byte) (piece, rest []byte, err error) {
	var fields [7]byte
	op := ops[0]
	ops = ops[1:]
	for i := range fields {
		if op&(1<<i) == 0 {
			continue
		}
		if len(ops) == 0 {
			return nil, nil, fmt.Errorf("%w delta: it ends within an instruction", ErrMalformed)
		}
		fields[i] = ops[0]
		ops = ops[1:]
	}
	at := int64(fields[0]) | int64(fields[1])<<8 | int64(fields[2])<<16 | int64(fields[3])<<24
	n := int64(fields[4]) | int64(fields[5])<<8 | int64(fields[6])<<16
	if n == 0 {
		n = 0x10000
	}
	if at+n > int64(len(base)) {
		return nil, nil, fmt.Errorf("%w delta: it copies from behind its base", ErrMalformed)
	}
	return base[at : at+n], ops, nil
}

func insertOp(ops []byte) (piece, rest []byte, err error) {
	n := int(ops[0])
	if n == 0 || n >= len(ops) {
		return nil, nil, fmt.Errorf("%w delta: an insertion of %d bytes", ErrMalformed, n)
	}
	return ops[1 : 1+n], ops[1+n:], nil
}
