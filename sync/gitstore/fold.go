package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"cairn/sync/gitstore/internal/packfmt"
)

// fold writes everything in packs into one new pack that is not published yet, as small as it gets.
func (s *Store) fold(ctx context.Context, packs []*pack) (*packDraft, error) {
	list, err := contents(packs)
	if err != nil {
		return nil, err
	}
	trees, err := collectTrees(ctx, list)
	if err != nil {
		return nil, err
	}
	return s.draftPack(s.path("objects", "pack"), len(list), func(w *packfmt.Writer) error {
		w.SetLevel(foldLevel)
		c := copier{w: w, load: s.Object, dense: newDensifier(), pause: ctx.Err}
		if err := c.placeTrees(trees); err != nil {
			return err
		}
		return c.copyAll(list)
	})
}

// contents returns all objects in packs, sorted for copying; one that is in several is taken from the oldest.
func contents(packs []*pack) ([]wanted, error) {
	var list []wanted
	for _, p := range packs {
		entries, err := p.index.Entries()
		if err != nil {
			return nil, &copyError{p, err}
		}
		for _, e := range entries {
			list = append(list, wanted{e.Hash, storedCopy{p, e.Offset}, e.CRC})
		}
	}
	slices.SortFunc(list, func(a, b wanted) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), comparePacks(a.at.pack, b.at.pack))
	})
	list = slices.CompactFunc(list, func(a, b wanted) bool { return a.hash == b.hash })
	sortWanted(list)
	return list, nil
}

// probes is how many entries of a pack are looked at to tell how it was written.
const probes = 32

// isQuick reports whether the pack was written in haste, as an append, an import and a push write theirs: compressed fast
// rather than well. It looks at a few entries, once.
func (p *pack) isQuick() bool {
	p.sniff.Do(func() {
		for i := range min(probes, p.index.Count()) {
			if p.quick = p.isQuickAt(i * p.index.Count() / min(probes, p.index.Count())); p.quick {
				return
			}
		}
	})
	return p.quick
}

// isQuickAt looks at the entry that comes at place i in the order of ids. One that cannot be read says nothing: whoever
// copies it will find out.
func (p *pack) isQuickAt(i int) bool {
	offset, err := p.index.OffsetAt(i)
	if err != nil {
		return false
	}
	head := make([]byte, min(packfmt.MaxHeaderSize, max(0, p.size-packfmt.TrailerSize-offset)))
	if err := p.readFull(head, offset); err != nil {
		return false
	}
	h, err := packfmt.ParseHeader(head)
	return err == nil && !h.Type.IsDelta() && packfmt.IsQuick(head[h.Length:])
}
