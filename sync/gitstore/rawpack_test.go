package gitstore_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"hash/crc32"

	"github.com/go-git/go-git/v5/plumbing"
)

// A rawEntry is an entry of a pack that a hostile sender might make: nothing in it need be true.
type rawEntry struct {
	kind     plumbing.ObjectType
	size     int64 // as the header claims; -1 for the length of data
	distance int   // OFS delta: how many entries back the base is
	base     plumbing.Hash
	data     []byte // before compression
}

// encodePack writes entries with a correct count and checksum. It is written independently of the code it tests.
func encodePack(entries []rawEntry) []byte {
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(entries)))
	var starts []int
	for i, e := range entries {
		starts = append(starts, len(pack))
		size := e.size
		if size < 0 {
			size = int64(len(e.data))
		}
		pack = append(pack, typeAndSize(e.kind, size)...)
		switch e.kind {
		case plumbing.OFSDeltaObject:
			pack = append(pack, backOffset(starts[i]-starts[i-e.distance])...)
		case plumbing.REFDeltaObject:
			pack = append(pack, e.base[:]...)
		}
		pack = append(pack, deflated(e.data)...)
	}
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

func typeAndSize(kind plumbing.ObjectType, size int64) []byte {
	b := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}

func backOffset(n int) []byte {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{0x80 | byte(n&0x7f)}, b...)
	}
	return b
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func sizeBytes(n int) []byte {
	return binary.AppendUvarint(nil, uint64(n))
}

// appendingDelta turns a base of n bytes into the base followed by tail, which has at most 127 bytes.
func appendingDelta(n int, tail string) []byte {
	d := append(sizeBytes(n), sizeBytes(n+len(tail))...)
	d = append(d, 0x80|0x10|0x20|0x40, byte(n), byte(n>>8), byte(n>>16))
	d = append(d, byte(len(tail)))
	return append(d, tail...)
}

// bombDelta turns a base of 64 KiB into n copies of it.
func bombDelta(n int) []byte {
	d := append(sizeBytes(1<<16), sizeBytes(n<<16)...)
	return append(d, bytes.Repeat([]byte{0x80}, n)...)
}

func whole(data []byte) rawEntry {
	return rawEntry{kind: plumbing.BlobObject, size: -1, data: data}
}

func ofsDelta(back int, data []byte) rawEntry {
	return rawEntry{kind: plumbing.OFSDeltaObject, size: -1, distance: back, data: data}
}

func refDelta(base plumbing.Hash, data []byte) rawEntry {
	return rawEntry{kind: plumbing.REFDeltaObject, size: -1, base: base, data: data}
}

func sha1Sum(b []byte) []byte {
	sum := sha1.Sum(b)
	return sum[:]
}

// oneEntryIndex returns the index of a pack with one entry, which holds the object with the given id.
func oneEntryIndex(id plumbing.Hash, pack []byte) []byte {
	x := []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}
	for i := range 256 {
		n := uint32(0)
		if i >= int(id[0]) {
			n = 1
		}
		x = binary.BigEndian.AppendUint32(x, n)
	}
	x = append(x, id[:]...)
	x = binary.BigEndian.AppendUint32(x, crc32.ChecksumIEEE(pack[12:len(pack)-20]))
	x = binary.BigEndian.AppendUint32(x, 12)
	x = append(x, pack[len(pack)-20:]...)
	return append(x, sha1Sum(x)...)
}
