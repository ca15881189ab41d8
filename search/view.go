package search

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"github.com/blugelabs/bluge/index"
	segment "github.com/blugelabs/bluge_segment_api"

	"cairn/internal/event"
	"cairn/search/embed"
)

// A view is the index at one moment. It lives as long as the snapshot it was
// made of is held.
type view struct {
	dir  string
	segs []*part
	live uint64 // notes
}

// A part is one segment in a view.
type part struct {
	*seg
	dead *roaring.Bitmap // deleted documents; nil for none
}

// A viewCache makes views and keeps the last one for as long as nothing
// changes, and what was read of segments for as long as they stay.
type viewCache struct {
	mu   sync.Mutex
	snap *index.Snapshot // compared, never used: it may be closed
	view *view
}

func (c *viewCache) of(snap *index.Snapshot, dir string) (*view, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.snap == snap {
		return c.view, nil
	}
	var former []*part
	if c.view != nil {
		former = c.view.segs
	}
	v, err := newView(snap, dir, former)
	if err != nil {
		return nil, err
	}
	c.snap, c.view = snap, v
	return v, nil
}

func (c *viewCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.snap, c.view = nil, nil
}

func newView(snap *index.Snapshot, dir string, former []*part) (*view, error) {
	v := &view{dir: dir}
	for _, s := range snap.Segments() {
		source, err := sourceOf(s)
		if err != nil {
			return nil, err
		}
		sg, err := openSegment(source, former)
		if err != nil {
			return nil, &DamagedError{Dir: dir, Err: err}
		}
		p := &part{seg: sg}
		if d := s.Deleted(); d != nil && !d.IsEmpty() {
			p.dead = d
		}
		v.segs = append(v.segs, p)
		v.live += uint64(p.countNotes())
	}
	return v, nil
}

func sourceOf(s index.SegmentSnapshot) (segment.Segment, error) {
	holder, ok := s.(interface{ Segment() segment.Segment })
	if !ok {
		return nil, fmt.Errorf("read the search index: a segment of type %T shows nothing", s)
	}
	return holder.Segment(), nil
}

func openSegment(source segment.Segment, former []*part) (*seg, error) {
	for _, p := range former {
		if p.source == source {
			return p.seg, nil
		}
	}
	return newSeg(source)
}

func (p *part) isDead(doc uint32) bool { return p.dead != nil && p.dead.Contains(doc) }

func (p *part) countNotes() int {
	n := p.rows.Len()
	if p.dead != nil {
		n -= int(p.dead.GetCardinality())
	}
	for _, doc := range p.rows.marks() {
		if !p.isDead(doc) {
			n--
		}
	}
	return n
}

// hasRemoved does not count former marks, of which every step leaves one.
func (v *view) hasRemoved() bool {
	for _, p := range v.segs {
		if p.dead == nil {
			continue
		}
		marks := uint64(0)
		for _, doc := range p.rows.marks() {
			if p.isDead(doc) {
				marks++
			}
		}
		if p.dead.GetCardinality() > marks {
			return true
		}
	}
	return false
}

// withoutDead takes deleted documents out of a bitmap.
func (p *part) withoutDead(b *roaring.Bitmap) *roaring.Bitmap {
	if p.dead == nil || b.IsEmpty() {
		return b
	}
	return roaring.AndNot(b, p.dead)
}

// withView calls fn with the index as it is now. The caller keeps the Index
// open.
func (x *Index) withView(fn func(*view) error) (err error) {
	defer x.health.watch(&err)
	snap, err := x.writer.bluge.Reader()
	if err != nil {
		return fmt.Errorf("read the search index: %w", err)
	}
	defer func() {
		if cerr := snap.Close(); err == nil {
			err = cerr
		}
	}()
	v, err := x.views.of(snap, x.home.dir)
	if err != nil {
		return err
	}
	return fn(v)
}

func (x *Index) read(fn func(*view) error) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	return x.withView(fn)
}

// Mark is how far the index has come in a space; false if it does not know it.
func (x *Index) Mark(space string) (m Mark, ok bool, err error) {
	err = x.read(func(v *view) error {
		m, ok, err = v.mark(space)
		return err
	})
	return m, ok, err
}

// Count is how many notes of a space the index holds.
func (x *Index) Count(space string) (n int, err error) {
	err = x.read(func(v *view) error {
		n, err = v.count(space)
		return err
	})
	return n, err
}

// IDs calls fn with the id of every note of a space, in no particular order,
// until it returns an error, which is then that of IDs. fn must not call the
// Index.
func (x *Index) IDs(space string, fn func(event.ID) error) error {
	return x.read(func(v *view) error { return v.ids(context.Background(), space, fn) })
}

// Meanings calls fn with the id and the Meaning of every note of a space, in no
// particular order, until it returns an error, which is then that of Meanings.
// The vector is gone afterwards. fn must not call the Index.
func (x *Index) Meanings(space string, fn func(event.ID, embed.Vector) error) error {
	return x.read(func(v *view) error { return v.meanings(space, fn) })
}

func (v *view) mark(space string) (found Mark, ok bool, err error) {
	err = v.marks(func(of string, m Mark) {
		if of == space {
			found, ok = m, true
		}
	})
	return found, ok, err
}

// marks calls fn with the mark of every space.
func (v *view) marks(fn func(space string, m Mark)) error {
	for _, p := range v.segs {
		for _, doc := range p.rows.marks() {
			if p.isDead(doc) {
				continue
			}
			var m Mark
			var bad error
			err := p.text(doc, func(text []byte) { m, bad = decodeMark(text) })
			if _, other := errors.AsType[*SchemaError](bad); other {
				return bad
			}
			if err = errors.Join(err, bad); err != nil {
				return &DamagedError{Dir: v.dir, Err: err}
			}
			fn(p.rows.Space(doc), m)
		}
	}
	return nil
}

func (v *view) count(space string) (int, error) { return v.countFacet(facet(spaceFacet, space)) }

// countFacet is how many notes have a facet.
func (v *view) countFacet(term string) (int, error) {
	n := 0
	for _, p := range v.segs {
		notes, err := p.facet(term)
		if err != nil {
			return 0, &DamagedError{Dir: v.dir, Err: err}
		}
		n += int(p.withoutDead(notes).GetCardinality())
	}
	return n, nil
}

func (v *view) ids(ctx context.Context, space string, fn func(event.ID) error) error {
	for _, p := range v.segs {
		for doc := range uint32(p.rows.Len()) {
			if p.isDead(doc) || !p.rows.isOf(doc, space) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(p.rows.id(doc)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *view) meanings(space string, fn func(event.ID, embed.Vector) error) error {
	var place embed.Vector
	for _, p := range v.segs {
		for doc := range uint32(p.rows.Len()) {
			if p.isDead(doc) || !p.rows.isOf(doc, space) {
				continue
			}
			var err error
			if place, err = p.appendPlace(place[:0], doc); err != nil {
				return &DamagedError{Dir: v.dir, Err: err}
			}
			if err := fn(p.rows.id(doc), place); err != nil {
				return err
			}
		}
	}
	return nil
}
