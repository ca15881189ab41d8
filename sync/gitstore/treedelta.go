package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// In a log every append writes the directories on the way to the new file once more, a little longer than before. Small
// packs store each of these versions whole. When they are joined, all versions of one directory but the newest become
// deltas of it, a few bytes each. Which trees are versions of one directory shows in how they begin.

const (
	// treeBytes bounds the trees that are held in memory for this; what is beyond stays as it is.
	treeBytes = 16 << 20
	// treeItemBytes is the largest tree that is considered.
	treeItemBytes = 1 << 20
	// minTree is the smallest tree for which a delta pays.
	minTree = 64
)

// A treeVersion is a tree that is stored whole.
type treeVersion struct {
	wanted
	data []byte
}

// collectTrees loads the trees among list that are stored whole, as many as there is room for.
func (s *Store) collectTrees(ctx context.Context, list []wanted) ([]treeVersion, error) {
	var trees []treeVersion
	var window packWindow
	room := treeBytes
	for _, x := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if window.pack != x.at.pack {
			window = packWindow{pack: x.at.pack, buf: window.buf[:0]}
		}
		if !isWholeTree(&window, x.at.offset) {
			continue
		}
		o, err := s.load(x.at, x.hash)
		if err != nil || len(o.Data) > room {
			continue // it is copied like any other object, with all that goes for one that cannot be read
		}
		room -= len(o.Data)
		trees = append(trees, treeVersion{x, o.Data})
	}
	return trees, nil
}

func isWholeTree(w *packWindow, offset int64) bool {
	end := min(offset+packfmt.MaxHeaderSize, w.pack.size-packfmt.TrailerSize)
	head, err := w.bytes(offset, end)
	if err != nil {
		return false
	}
	h, err := packfmt.ParseHeader(head)
	return err == nil && h.Type == plumbing.TreeObject && h.Size >= minTree && h.Size <= treeItemBytes
}

// firstName returns the name of a tree's first entry, which an append to the directory does not change.
func firstName(tree []byte) []byte {
	end := bytes.IndexByte(tree, 0)
	return tree[:max(0, end)]
}

// placeTrees writes the trees first, versions of one directory together, the longest and so the newest of them whole.
func (c *copier) placeTrees(trees []treeVersion) error {
	slices.SortFunc(trees, func(a, b treeVersion) int {
		return cmp.Or(bytes.Compare(firstName(a.data), firstName(b.data)), cmp.Compare(len(b.data), len(a.data)),
			bytes.Compare(a.hash[:], b.hash[:]))
	})
	c.placed = make(map[storedCopy]int64, len(trees))
	for len(trees) > 0 {
		n := 1
		for n < len(trees) && bytes.Equal(firstName(trees[n].data), firstName(trees[0].data)) {
			n++
		}
		if err := c.placeVersions(trees[:n]); err != nil {
			return err
		}
		trees = trees[n:]
	}
	return nil
}

// placeVersions writes trees of which each is probably an earlier version of the one before.
func (c *copier) placeVersions(trees []treeVersion) error {
	newest := trees[0]
	for _, t := range trees {
		at := c.w.Offset()
		delta := packfmt.MakeDelta(newest.data, t.data)
		var err error
		if t.at != newest.at && len(delta) < len(t.data)/2 {
			err = c.w.Delta(t.hash, c.placed[newest.at], delta)
		} else {
			err = c.w.Object(t.hash, plumbing.TreeObject, t.data)
			newest = t
		}
		if err != nil {
			return err
		}
		c.placed[t.at] = at
	}
	return nil
}
