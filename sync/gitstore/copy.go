package gitstore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// A wanted is an object that is to go into a new pack, and where it is now.
type wanted struct {
	hash plumbing.Hash
	at   storedCopy // pack is nil if it must be loaded by id
	crc  uint32     // of the entry in the pack
}

// A copier moves objects from packs into a new one. Compressed streams are copied as they are; a delta stays one if its
// base goes along, from the same pack and before it. Everything else is loaded and written whole.
type copier struct {
	w    *packfmt.Writer
	load func(plumbing.Hash) (Object, error)
	// placed says where objects went that were written out of the order of their pack.
	placed map[storedCopy]int64
	// dense, if not nil, writes objects anew that were compressed fast rather than well.
	dense *densifier
	// pause is asked before each object whether to go on; nil means yes.
	pause func() error
}

// A copyError says which pack an object could not be taken from, nor from anywhere else.
type copyError struct {
	pack *pack
	err  error
}

func (e *copyError) Error() string { return e.err.Error() }
func (e *copyError) Unwrap() error { return e.err }

// sortWanted brings objects into the order in which copier can copy most: pack by pack, by offset. Older packs come first,
// so that what was stored one after the other stays so.
func sortWanted(list []wanted) {
	slices.SortFunc(list, func(a, b wanted) int {
		return cmp.Or(comparePacks(a.at.pack, b.at.pack), cmp.Compare(a.at.offset, b.at.offset))
	})
}

// comparePacks orders packs by age. No pack at all comes first: such objects are no bases.
func comparePacks(a, b *pack) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.base, b.base))
}

// copyAll writes the objects in list, which is sorted and holds none twice, except those that are placed already.
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
	run := packRun{list: list, out: make([]int64, 0, len(list)), window: packWindow{pack: p}}
	if p != nil {
		run.ends = entryEnds(p, len(list))
	}
	for _, x := range list {
		if c.pause != nil {
			if err := c.pause(); err != nil {
				return err
			}
		}
		at, ok := c.placed[x.at]
		if !ok {
			at = c.w.Offset()
			if err := c.copyOne(&run, x); err != nil {
				return err
			}
		}
		run.out = append(run.out, at)
	}
	return nil
}

// copyOne loads the object if it cannot be copied as it is, for whatever reason: a pack that cannot be read may have been
// replaced, or have a twin, and loading will find that out or tell what is wrong.
func (c *copier) copyOne(run *packRun, x wanted) error {
	h, stream, ok := run.raw(x)
	if ok && (c.dense == nil || h.Type.IsDelta() || !packfmt.IsQuick(stream)) {
		if h.Type == plumbing.OFSDeltaObject {
			h.Distance = c.w.Offset() - h.Distance
		}
		return c.w.Raw(x.hash, h, bytes.NewReader(stream))
	}
	o, err := c.load(x.hash)
	if err != nil {
		return &copyError{x.at.pack, err}
	}
	if c.dense != nil {
		return c.dense.write(c.w, o)
	}
	return c.w.Object(x.hash, o.Type, o.Data)
}
