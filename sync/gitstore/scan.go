package gitstore

import (
	"bytes"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// A Scan reads objects of a Store with few calls to the system if they are many: it reads ahead, and keeps the indexes of
// the packs in memory, 28 bytes for each object in them, once that pays. It is quick for objects in about the order in which
// they were stored. For a few objects it costs what they cost. It ends when it is no longer used. It is not safe for
// concurrent use.
type Scan struct {
	s       *Store
	asked   int
	indexes map[*pack]*packfmt.Index // in memory; nil for one that cannot be read whole
	last    *pack                    // where the last object was found
	window  packWindow
}

// worthLoading is which part of the objects in a pack must have been asked for before its index is read into memory.
const worthLoading = 256

// Scan begins to read many objects.
func (s *Store) Scan() *Scan { return &Scan{s: s, indexes: map[*pack]*packfmt.Index{}} }

// Object is Store.Object.
func (r *Scan) Object(h plumbing.Hash) (Object, error) {
	if err := r.s.alive(); err != nil {
		return Object{}, err
	}
	r.asked++
	if o, ok := r.find(h); ok {
		return o, nil
	}
	// Not there, damaged, or just moved: the Store knows what to do about all of these.
	return r.s.Object(h)
}

// find is not ok if there is anything out of the ordinary.
func (r *Scan) find(h plumbing.Hash) (o Object, ok bool) {
	if r.last != nil {
		if o, ok = r.findIn(r.last, h); ok {
			return o, true
		}
	}
	packs, err := r.s.packs.all()
	if err != nil {
		return o, false
	}
	for _, p := range packs {
		if p == r.last {
			continue
		}
		if o, ok = r.findIn(p, h); ok {
			r.last = p
			return o, true
		}
	}
	return o, false
}

func (r *Scan) findIn(p *pack, h plumbing.Hash) (o Object, ok bool) {
	x := r.index(p)
	if x == nil {
		return o, false
	}
	offset, ok, err := x.Find(h)
	if err != nil || !ok {
		return o, false
	}
	o, err = r.load(storedCopy{p, offset})
	if err != nil {
		return o, false
	}
	o = NewObject(o.Type, o.Data)
	return o, o.Hash == h
}

func (r *Scan) index(p *pack) *packfmt.Index {
	x, known := r.indexes[p]
	if known {
		return x
	}
	if p.open() != nil {
		return nil
	}
	if r.asked < p.index.Count()/worthLoading {
		return p.index
	}
	x, err := p.index.InMemory()
	if err != nil {
		x = nil // the Store will find out what is wrong with it
	}
	r.indexes[p] = x
	return x
}

// load reads the object at c, and its base by way of the Store, which keeps it for the next that grows from it.
func (r *Scan) load(c storedCopy) (Object, error) {
	h, data, err := r.entry(c)
	if err != nil {
		return Object{}, err
	}
	if !h.Type.IsDelta() {
		return Object{Type: h.Type, Data: data}, nil
	}
	at, err := r.s.deltaBase(c, h)
	if err != nil {
		return Object{}, err
	}
	if at.pack == nil {
		return Object{}, errors.New("its delta base is a loose object")
	}
	base, err := r.s.loadPacked(r.s.cache, at)
	if err != nil {
		return Object{}, err
	}
	return applyDelta(base, data)
}

// entry reads the entry at c out of the window.
func (r *Scan) entry(c storedCopy) (h packfmt.Header, data []byte, err error) {
	if r.window.pack != c.pack {
		r.window = packWindow{pack: c.pack, buf: r.window.buf[:0], ahead: leastAhead}
	}
	r.window.follow(c.offset)
	limit := c.pack.size - packfmt.TrailerSize
	head, err := r.window.bytes(c.offset, min(c.offset+packfmt.MaxHeaderSize, limit))
	if err != nil {
		return h, nil, err
	}
	if h, err = packfmt.ParseHeader(head); err != nil {
		return h, nil, err
	}
	if h.Size > windowBytes {
		return readEntry(c)
	}
	begin := c.offset + int64(h.Length)
	stream, err := r.window.bytes(begin, min(begin+packfmt.StreamBound(h.Size), limit))
	if err != nil {
		return h, nil, err
	}
	data, err = packfmt.Inflate(bytes.NewReader(stream), h.Size)
	return h, data, err
}
