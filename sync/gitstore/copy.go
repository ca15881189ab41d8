package gitstore

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// A wanted is an object that is to go into a new pack, and where it is now.
type wanted struct {
	hash plumbing.Hash
	at   storedCopy // pack is nil if it must be loaded by id
}

// A copier moves objects from packs into a new one. Compressed streams are copied as they are; a delta stays one if its
// base goes along, from the same pack and before it. Everything else is loaded and written whole.
type copier struct {
	w    *packfmt.Writer
	load func(plumbing.Hash) (Object, error)
}

// sortWanted brings objects into the order in which copier can copy most: pack by pack, by offset.
func sortWanted(list []wanted) {
	slices.SortFunc(list, func(a, b wanted) int {
		return cmp.Or(cmp.Compare(packName(a.at.pack), packName(b.at.pack)), cmp.Compare(a.at.offset, b.at.offset))
	})
}

func packName(p *pack) string {
	if p == nil {
		return "" // first: such objects are no bases
	}
	return p.base
}

// copyAll writes the objects in list, which is sorted and holds none twice.
func (c *copier) copyAll(list []wanted) error {
	for len(list) > 0 {
		p := list[0].at.pack
		n := 1
		for n < len(list) && list[n].at.pack == p {
			n++
		}
		if err := c.copyFrom(p, list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// copyFrom writes objects of one pack.
func (c *copier) copyFrom(p *pack, list []wanted) error {
	run := packRun{list: list, out: make([]int64, 0, len(list))}
	if p != nil {
		run.ends = entryEnds(p, len(list))
	}
	for _, x := range list {
		run.out = append(run.out, c.w.Offset())
		h, stream, err := run.raw(x)
		if err == nil && h.Type == plumbing.OFSDeltaObject {
			h.Distance = c.w.Offset() - h.Distance
		}
		if err != nil || stream == nil {
			// A pack that cannot be read may have been replaced, or have a twin: loading looks everywhere.
			o, err := c.load(x.hash)
			if err != nil {
				return err
			}
			if err := c.w.Object(x.hash, o.Type, o.Data); err != nil {
				return err
			}
			continue
		}
		if err := c.w.Raw(x.hash, h, bytes.NewReader(stream)); err != nil {
			return err
		}
	}
	return nil
}

// A packRun is the part of one pack that is being copied.
type packRun struct {
	list []wanted
	out  []int64 // where the first ones of list went
	ends []int64 // offsets at which the pack's entries end, sorted; nil if not known
}

// raw returns the compressed stream of x and the header it is to get; for a delta, Distance is where its base went. The
// stream is nil if x cannot be copied as it is.
func (r *packRun) raw(x wanted) (packfmt.Header, []byte, error) {
	if x.at.pack == nil {
		return packfmt.Header{}, nil, nil
	}
	e, err := x.at.pack.entry(x.at.offset)
	if err != nil {
		return packfmt.Header{}, nil, err
	}
	defer e.done()
	h := e.header
	if h.Type.IsDelta() {
		base, err := r.whereWent(x.at, h)
		if err != nil || base < 0 {
			return packfmt.Header{}, nil, err
		}
		h.Type, h.Distance = plumbing.OFSDeltaObject, base
	}
	end, err := r.end(x.at, e)
	if err != nil {
		return packfmt.Header{}, nil, err
	}
	whole, err := readWhole(x, end)
	if err != nil {
		return packfmt.Header{}, nil, err
	}
	return h, whole[e.header.Length:], nil
}

// readWhole returns the bytes of an entry that ends before end, compared with the checksum in the index.
func readWhole(x wanted, end int64) ([]byte, error) {
	e, ok, err := x.at.pack.find(x.hash)
	if err != nil {
		return nil, err
	}
	whole := make([]byte, end-x.at.offset)
	if err := x.at.pack.readFull(whole, x.at.offset); err != nil {
		return nil, err
	}
	if !ok || e.Offset != x.at.offset || crc32.ChecksumIEEE(whole) != e.CRC {
		return nil, fmt.Errorf("%w pack entry: its checksum is wrong", packfmt.ErrMalformed)
	}
	return whole, nil
}

// whereWent returns the new offset of the base of the delta at c, or -1 if it did not go before.
func (r *packRun) whereWent(c storedCopy, h packfmt.Header) (int64, error) {
	at := c.offset - h.Distance
	if h.Type == plumbing.REFDeltaObject {
		e, ok, err := c.pack.find(h.Base)
		if err != nil || !ok {
			return -1, err
		}
		at = e.Offset
	}
	done := r.list[:len(r.out)-1]
	i := sort.Search(len(done), func(i int) bool { return done[i].at.offset >= at })
	if i == len(done) || done[i].at.offset != at {
		return -1, nil
	}
	return r.out[i], nil
}

// end returns where the entry ends: where the next one begins, or else where its stream turns out to.
func (r *packRun) end(c storedCopy, e entryReader) (int64, error) {
	if i := sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > c.offset }); i < len(r.ends) {
		return r.ends[i], nil
	}
	counted := &countingReader{r: e.buf}
	if _, err := packfmt.Inflate(counted, e.header.Size); err != nil {
		return 0, err
	}
	return c.offset + int64(e.header.Length) + counted.n, nil
}

type countingReader struct {
	r *bufio.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

var _ io.ByteReader = (*countingReader)(nil)

// worthListing is which part of a pack must be wanted before it pays to read the whole index.
const worthListing = 16

// entryEnds returns the offsets at which the entries of p end, or nil if only few are wanted or they cannot be read.
func entryEnds(p *pack, want int) []int64 {
	if p.open() != nil || want < p.index.Count()/worthListing {
		return nil
	}
	entries, err := p.index.Entries()
	if err != nil {
		return nil // each entry's end is then found by inflating it
	}
	ends := make([]int64, 0, len(entries)+1)
	for _, e := range entries {
		ends = append(ends, e.Offset)
	}
	slices.Sort(ends)
	return append(ends, p.size-packfmt.TrailerSize)
}
