package packfmt

import "encoding/binary"

const (
	maxCopy   = 0xffff // bytes that one copy instruction of ours covers
	maxInsert = 0x7f
)

// MakeDelta returns a delta that makes target of base: what both begin with, the middle as it is, what both end with. For
// two versions of one directory that is nearly as short as a delta can be; for other things it may be longer than target.
func MakeDelta(base, target []byte) []byte {
	n := min(len(base), len(target))
	prefix := commonPrefix(base[:n], target[:n])
	suffix := commonSuffix(base[len(base)-(n-prefix):], target[len(target)-(n-prefix):])
	d := appendDeltaSize(nil, len(base))
	d = appendDeltaSize(d, len(target))
	d = appendCopy(d, 0, prefix)
	d = appendInsert(d, target[prefix:len(target)-suffix])
	return appendCopy(d, len(base)-suffix, suffix)
}

func commonPrefix(a, b []byte) int {
	i := 0
	for i+8 <= len(a) && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix is for two slices of the same length.
func commonSuffix(a, b []byte) int {
	n := len(a)
	i := 0
	for i < n && a[n-1-i] == b[n-1-i] {
		i++
	}
	return i
}

func appendDeltaSize(d []byte, n int) []byte { return binary.AppendUvarint(d, uint64(n)) }

func appendCopy(d []byte, at, n int) []byte {
	for n > 0 {
		size := min(n, maxCopy)
		op := len(d)
		d = append(d, 0x80)
		for i, v := range [7]byte{byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24), byte(size), byte(size >> 8)} {
			if v != 0 {
				d[op] |= 1 << i
				d = append(d, v)
			}
		}
		at += size
		n -= size
	}
	return d
}

func appendInsert(d, data []byte) []byte {
	for len(data) > 0 {
		n := min(len(data), maxInsert)
		d = append(d, byte(n))
		d = append(d, data[:n]...)
		data = data[n:]
	}
	return d
}
