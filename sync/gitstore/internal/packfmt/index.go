package packfmt

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
)

var indexMagic = []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}

const (
	fanoutAt   = 8
	hashesAt   = fanoutAt + 256*4
	perObject  = 20 + 4 + 4 // id, CRC, offset
	windowSize = 128        // ids read at once while searching
)

// An Index finds objects in a pack by way of its index file. It keeps the first kilobyte and reads the rest when asked.
// It is safe for concurrent use if its reader is.
type Index struct {
	r      io.ReaderAt
	memory []byte // all of it, or nil
	size   int64
	fanout [256]uint32
}

// OpenIndex returns the index that r holds in size bytes, after checking that its parts fit together; VerifyChecksum
// checks the rest.
func OpenIndex(r io.ReaderAt, size int64) (*Index, error) {
	x := &Index{r: r, size: size}
	var head [hashesAt]byte
	if err := x.readAt(head[:], 0); err != nil {
		return nil, err
	}
	if !bytes.Equal(head[:fanoutAt], indexMagic) {
		return nil, fmt.Errorf("%w pack index: no version 2 signature", ErrMalformed)
	}
	last := uint32(0)
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[fanoutAt+4*i:])
		if x.fanout[i] < last {
			return nil, fmt.Errorf("%w pack index: its fan-out table is out of order", ErrMalformed)
		}
		last = x.fanout[i]
	}
	return x, x.checkSize()
}

// ReadIndex is OpenIndex for an index in memory. It keeps data, which must not change.
func ReadIndex(data []byte) (*Index, error) {
	x, err := OpenIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	x.memory = data
	return x, nil
}

// checkSize makes sure that the tables fill the file; of far offsets there may be as many as there are objects.
func (x *Index) checkSize() error {
	far := x.size - x.farAt(0) - 2*TrailerSize
	if far < 0 || far%8 != 0 || far/8 > int64(x.Count()) {
		return fmt.Errorf("%w pack index: %d bytes for %d objects", ErrMalformed, x.size, x.Count())
	}
	return nil
}

// InMemory returns an index that is the same and has been read whole, the tables that is: no checksum is compared.
func (x *Index) InMemory() (*Index, error) {
	if x.memory != nil {
		return x, nil
	}
	data := make([]byte, x.size)
	if err := x.readAt(data, 0); err != nil {
		return nil, err
	}
	return &Index{r: bytes.NewReader(data), memory: data, size: x.size, fanout: x.fanout}, nil
}

// Count returns the number of objects.
func (x *Index) Count() int { return int(x.fanout[255]) }

// PackSum returns the checksum of the pack that this index belongs to.
func (x *Index) PackSum() (plumbing.Hash, error) {
	var sum plumbing.Hash
	err := x.readAt(sum[:], x.size-2*TrailerSize)
	return sum, err
}

// VerifyChecksum reads the whole index and compares it with the checksum at its end.
func (x *Index) VerifyChecksum() error {
	sum := sha1.New()
	if _, err := io.Copy(sum, io.NewSectionReader(x.r, 0, x.size-TrailerSize)); err != nil {
		return err
	}
	var want [TrailerSize]byte
	if err := x.readAt(want[:], x.size-TrailerSize); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return fmt.Errorf("%w pack index: its checksum is wrong", ErrMalformed)
	}
	return nil
}

// Find returns where the pack holds the object with id h.
func (x *Index) Find(h plumbing.Hash) (offset int64, ok bool, err error) {
	i, err := x.position(h)
	if err != nil || i < 0 {
		return 0, false, err
	}
	v, err := x.uint32At(x.offsetAt(i))
	if err != nil {
		return 0, false, err
	}
	offset, err = x.resolveOffset(v)
	return offset, err == nil, err
}

// OffsetAt returns the offset of the object that comes at place i, from 0, in the order of ids.
func (x *Index) OffsetAt(i int) (int64, error) {
	v, err := x.uint32At(x.offsetAt(i))
	if err != nil {
		return 0, err
	}
	return x.resolveOffset(v)
}

// Entry returns all that the index knows of the object with id h.
func (x *Index) Entry(h plumbing.Hash) (e IndexEntry, ok bool, err error) {
	i, err := x.position(h)
	if err != nil || i < 0 {
		return IndexEntry{}, false, err
	}
	crc, err := x.uint32At(x.crcAt(i))
	if err != nil {
		return IndexEntry{}, false, err
	}
	v, err := x.uint32At(x.offsetAt(i))
	if err != nil {
		return IndexEntry{}, false, err
	}
	offset, err := x.resolveOffset(v)
	return IndexEntry{Hash: h, Offset: offset, CRC: crc}, err == nil, err
}

// position returns the place of h in the sorted table of ids, or -1. Ids are evenly spread, so the first guess is nearly
// always right; the further ones halve the rest, lest crafted ids make the search slow.
func (x *Index) position(h plumbing.Hash) (int, error) {
	lo, hi := 0, int(x.fanout[h[0]])
	if h[0] > 0 {
		lo = int(x.fanout[h[0]-1])
	}
	guess := lo + int(uint64(hi-lo)*uint64(binary.BigEndian.Uint32(h[1:5]))>>32)
	for lo < hi {
		from := max(lo, min(guess-windowSize/2, hi-windowSize))
		n := min(windowSize, hi-from)
		ids, err := x.bytes(hashesAt+int64(from)*20, n*20)
		if err != nil {
			return 0, err
		}
		k := sort.Search(n, func(i int) bool { return bytes.Compare(ids[i*20:i*20+20], h[:]) >= 0 })
		switch {
		case k < n && bytes.Equal(ids[k*20:k*20+20], h[:]):
			return from + k, nil
		case k == 0:
			hi = from
		case k == n:
			lo = from + n
		default:
			return -1, nil
		}
		guess = lo + (hi-lo)/2
	}
	return -1, nil
}

func (x *Index) uint32At(at int64) (uint32, error) {
	b, err := x.bytes(at, 4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

func (x *Index) resolveOffset(v uint32) (int64, error) {
	if v < farOffset {
		return int64(v), nil
	}
	at := x.farAt(int(v &^ farOffset))
	if at > x.size-2*TrailerSize-8 {
		return 0, fmt.Errorf("%w pack index: an offset points out of its table", ErrMalformed)
	}
	var far [8]byte
	if err := x.readAt(far[:], at); err != nil {
		return 0, err
	}
	offset := int64(binary.BigEndian.Uint64(far[:]))
	if offset < 0 {
		return 0, fmt.Errorf("%w pack index: a negative offset", ErrMalformed)
	}
	return offset, nil
}

// Entries returns everything in the index, sorted by id.
func (x *Index) Entries() ([]IndexEntry, error) {
	n := x.Count()
	tables := make([]byte, n*perObject)
	if err := x.readAt(tables, hashesAt); err != nil {
		return nil, err
	}
	crcs, offsets := tables[n*20:n*24], tables[n*24:]
	entries := make([]IndexEntry, n)
	for i := range entries {
		e := &entries[i]
		copy(e.Hash[:], tables[i*20:])
		e.CRC = binary.BigEndian.Uint32(crcs[i*4:])
		var err error
		if e.Offset, err = x.resolveOffset(binary.BigEndian.Uint32(offsets[i*4:])); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (x *Index) crcAt(i int) int64    { return hashesAt + int64(x.Count())*20 + int64(i)*4 }
func (x *Index) offsetAt(i int) int64 { return hashesAt + int64(x.Count())*24 + int64(i)*4 }
func (x *Index) farAt(i int) int64    { return hashesAt + int64(x.Count())*perObject + int64(i)*8 }

// bytes returns n bytes from at on, which are only read.
func (x *Index) bytes(at int64, n int) ([]byte, error) {
	if x.memory != nil && at+int64(n) <= x.size {
		return x.memory[at : at+int64(n)], nil
	}
	b := make([]byte, n)
	return b, x.readAt(b, at)
}

func (x *Index) readAt(b []byte, at int64) error {
	n, err := x.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		err = fmt.Errorf("%w pack index: it ends too early", ErrMalformed)
	}
	return err
}
