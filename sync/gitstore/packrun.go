package gitstore

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// A packRun is the part of one pack that is being copied.
type packRun struct {
	list   []wanted
	out    []int64 // where the first ones of list went
	ends   []int64 // offsets at which the pack's entries end, sorted; nil if not known
	window packWindow
}

// raw returns the compressed stream of x and the header it is to get; for a delta, Distance is where its base went. It is
// not ok if x cannot be copied as it is.
func (r *packRun) raw(x wanted) (h packfmt.Header, stream []byte, ok bool) {
	if x.at.pack == nil {
		return h, nil, false
	}
	end, err := r.end(x.at)
	if err != nil {
		return h, nil, false
	}
	entry, err := r.window.bytes(x.at.offset, end)
	if err != nil || crc32.ChecksumIEEE(entry) != x.crc {
		return h, nil, false
	}
	if h, err = packfmt.ParseHeader(entry); err != nil {
		return h, nil, false
	}
	stream = entry[h.Length:]
	if h.Type.IsDelta() {
		h.Distance, ok = r.whereWent(x.at, h)
		h.Type = plumbing.OFSDeltaObject
		return h, stream, ok
	}
	return h, stream, true
}

// whereWent returns the new offset of the base of the delta at c, if that went before.
func (r *packRun) whereWent(c storedCopy, h packfmt.Header) (int64, bool) {
	at := c.offset - h.Distance
	if h.Type == plumbing.REFDeltaObject {
		offset, ok, err := c.pack.find(h.Base)
		if err != nil || !ok {
			return 0, false
		}
		at = offset
	}
	done := r.list[:len(r.out)]
	i := sort.Search(len(done), func(i int) bool { return done[i].at.offset >= at })
	if i == len(done) || done[i].at.offset != at {
		return 0, false
	}
	return r.out[i], true
}

// end returns where the entry ends: where the next one begins, or else where its stream turns out to.
func (r *packRun) end(c storedCopy) (int64, error) {
	if r.ends != nil {
		i := sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > c.offset })
		if i == len(r.ends) {
			return 0, fmt.Errorf("%w pack index: an entry behind the end of the pack", packfmt.ErrMalformed)
		}
		return r.ends[i], nil
	}
	e, err := c.pack.entry(c.offset)
	if err != nil {
		return 0, err
	}
	defer e.done()
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

// windowBytes is how much of a pack is read ahead while it is copied from front to back.
const windowBytes = 256 << 10

// A packWindow reads entries that are near to each other with few calls.
type packWindow struct {
	pack  *pack
	at    int64
	buf   []byte
	ahead int64 // how much to read at once; 0 is windowBytes
	back  bool  // read what stands before rather than what comes next
}

// bytes returns what is between two offsets, until the next call.
func (w *packWindow) bytes(from, to int64) ([]byte, error) {
	if from < w.at || to > w.at+int64(len(w.buf)) {
		if err := w.read(from, to); err != nil {
			return nil, err
		}
	}
	return w.buf[from-w.at : to-w.at], nil
}

func (w *packWindow) read(from, to int64) error {
	limit := w.pack.size - packfmt.TrailerSize
	if from < 0 || to < from || to > limit {
		return fmt.Errorf("%w pack index: an entry outside the pack", packfmt.ErrMalformed)
	}
	ahead := w.ahead
	if ahead == 0 {
		ahead = windowBytes
	}
	if w.back { // and the rest of an entry of which this is the header
		to = min(to+leastAhead, limit)
		from = max(0, min(from, to-ahead))
	}
	n := int(max(to-from, min(ahead, limit-from)))
	w.at, w.buf = from, slices.Grow(w.buf[:0], n)[:n]
	err := w.pack.readFull(w.buf, from)
	if err != nil {
		w.buf = w.buf[:0]
	}
	return err
}

// follow lets the window grow while what is asked for follows what it held, or comes before it; it begins anew after a
// leap.
func (w *packWindow) follow(from int64) {
	end := w.at + int64(len(w.buf))
	switch {
	case from >= w.at && from+leastAhead/2 < end:
	case from >= w.at && from <= end+w.ahead:
		w.ahead, w.back = min(2*w.ahead, windowBytes), false
	case from < w.at && from >= w.at-w.ahead:
		w.ahead, w.back = min(2*w.ahead, windowBytes), true
	default:
		w.ahead, w.back = leastAhead, false
	}
}

// leastAhead is about what one note takes, twice.
const leastAhead = 4 << 10

// worthListing is which part of a pack must be wanted before it pays to read the whole index.
const worthListing = 16

// entryEnds returns the offsets at which the entries of p end, or nil if only few are wanted or they cannot be read. Then
// each entry's end is found by inflating it.
func entryEnds(p *pack, want int) []int64 {
	if p.open() != nil || want < p.index.Count()/worthListing {
		return nil
	}
	entries, err := p.index.Entries()
	if err != nil {
		return nil
	}
	ends := make([]int64, 0, len(entries)+1)
	for _, e := range entries {
		ends = append(ends, e.Offset)
	}
	slices.Sort(ends)
	return append(ends, p.size-packfmt.TrailerSize)
}
