package gitstore

import (
	"bufio"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// maxChain is how many deltas may stand between an entry and a whole object: git's own bound for --depth.
const maxChain = 4095

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// An entryReader reads one entry of a pack, header and stream.
type entryReader struct {
	buf    *bufio.Reader
	header packfmt.Header
}

// entry reads the header of the entry at offset. The caller calls done.
func (p *pack) entry(offset int64) (entryReader, error) {
	buf := readers.Get().(*bufio.Reader)
	buf.Reset(p.section(offset))
	h, err := packfmt.ReadHeader(buf)
	r := entryReader{buf, h}
	if err == nil && (h.Size > maxPackedObject || h.Distance > offset) {
		err = fmt.Errorf("%w pack entry: %d bytes, base %d before it", packfmt.ErrMalformed, h.Size, h.Distance)
	}
	if err != nil {
		r.done()
	}
	return r, err
}

func (r entryReader) inflate() ([]byte, error) { return packfmt.Inflate(r.buf, r.header.Size) }

func (r entryReader) done() {
	r.buf.Reset(nil)
	readers.Put(r.buf)
}

func readEntry(c storedCopy) (packfmt.Header, []byte, error) {
	r, err := c.pack.entry(c.offset)
	if err != nil {
		return packfmt.Header{}, nil, err
	}
	defer r.done()
	data, err := r.inflate()
	return r.header, data, err
}

// loadPacked returns the object at c, and leaves what it read on the way in the cache. Its Hash is set only if it was
// verified before.
func (s *Store) loadPacked(cache *Cache, c storedCopy) (Object, error) {
	o, deltas, err := s.unwind(cache, c)
	if err != nil {
		return Object{}, err
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		if o, err = applyDelta(o, deltas[i].data); err != nil {
			return Object{}, err
		}
		cache.put(deltas[i].at, o)
	}
	return o, nil
}

// A storedDelta is the inflated delta of one entry.
type storedDelta struct {
	at   storedCopy
	data []byte
}

// unwind follows a chain of deltas from c down to a whole object. The deltas come in the order they were met, so the last
// one applies first.
func (s *Store) unwind(cache *Cache, c storedCopy) (base Object, deltas []storedDelta, err error) {
	for len(deltas) <= maxChain {
		if o, ok := cache.get(c); ok {
			return o, deltas, nil
		}
		header, data, err := readEntry(c)
		if err != nil {
			return Object{}, nil, err
		}
		if !header.Type.IsDelta() {
			o := Object{Type: header.Type, Data: data}
			cache.put(c, o)
			return o, deltas, nil
		}
		deltas = append(deltas, storedDelta{c, data})
		c, err = s.deltaBase(c, header)
		if err != nil {
			return Object{}, nil, err
		}
		if c.pack == nil {
			o, err := s.loadLoose(header.Base)
			return o, deltas, err
		}
	}
	return Object{}, nil, errChain
}

var errChain = fmt.Errorf("%w pack: a chain of over %d deltas", packfmt.ErrMalformed, maxChain)

// deltaBase returns where the base of the delta at c is. One that is named by id should be in the same pack; packs that
// some tools wrote rely on others.
func (s *Store) deltaBase(c storedCopy, h packfmt.Header) (storedCopy, error) {
	if h.Type == plumbing.OFSDeltaObject {
		return storedCopy{c.pack, c.offset - h.Distance}, nil
	}
	offset, ok, err := c.pack.find(h.Base)
	if err != nil || ok {
		return storedCopy{c.pack, offset}, err
	}
	var base storedCopy
	err = s.search(h.Base, func(found storedCopy) error {
		base = found
		return s.confirm(found, h.Base)
	})
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		// The object that was asked for is not missing: it is there and of no use.
		err = fmt.Errorf("its delta base %s is missing", h.Base)
	}
	return base, err
}

func applyDelta(base Object, delta []byte) (Object, error) {
	_, size, err := packfmt.DeltaSizes(delta)
	if err != nil {
		return Object{}, err
	}
	if size > maxPackedObject {
		return Object{}, fmt.Errorf("%w delta: it claims %d bytes", packfmt.ErrMalformed, size)
	}
	data, err := packfmt.ApplyDelta(base.Data, delta)
	return Object{Type: base.Type, Data: data}, err
}

// deltaHead is more than the two sizes at the start of a delta take.
const deltaHead = 32

// packedSize returns the type and size of the object at c, reading only the beginnings of the entries in its chain.
func (s *Store) packedSize(c storedCopy) (plumbing.ObjectType, int64, error) {
	size := int64(-1)
	for range maxChain {
		h, n, err := entrySize(c)
		if err != nil {
			return plumbing.InvalidObject, 0, err
		}
		if size < 0 {
			size = n
		}
		if !h.Type.IsDelta() {
			return h.Type, size, nil
		}
		if c, err = s.deltaBase(c, h); err != nil {
			return plumbing.InvalidObject, 0, err
		}
		if c.pack == nil {
			t, _, err := s.looseSize(h.Base)
			return t, size, err
		}
	}
	return plumbing.InvalidObject, 0, errChain
}

// entrySize returns an entry's header and the size of the object that it makes.
func entrySize(c storedCopy) (packfmt.Header, int64, error) {
	r, err := c.pack.entry(c.offset)
	if err != nil {
		return packfmt.Header{}, 0, err
	}
	defer r.done()
	if !r.header.Type.IsDelta() {
		return r.header, r.header.Size, nil
	}
	head, err := packfmt.InflatePrefix(r.buf, deltaHead)
	if err != nil {
		return packfmt.Header{}, 0, err
	}
	_, n, err := packfmt.DeltaSizes(head)
	return r.header, n, err
}
