package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// In a log every append writes the directories on the way to the new file once more, a little longer than before. Small
// packs store each of these versions whole. When they are folded, all versions of one directory but the newest become
// deltas of it, a few bytes each. Which trees are versions of one directory shows in how they begin.

const (
	// treeItemBytes is the largest tree that is considered.
	treeItemBytes = 1 << 20
	// minTree is the smallest tree for which a delta pays.
	minTree = 64
)

// A treeVersion is a tree that is stored whole.
type treeVersion struct {
	wanted
	family uint64 // the same for all versions of a directory
	size   int
	data   []byte // nil if it has to be loaded
}

// collectTrees lists the trees among list that are stored whole. It reads only how they begin.
func collectTrees(ctx context.Context, list []wanted) ([]treeVersion, error) {
	var trees []treeVersion
	window := packWindow{}
	for _, x := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if window.pack != x.at.pack {
			window = packWindow{pack: x.at.pack, buf: window.buf[:0]}
		}
		// One that cannot be read is copied like any other object, with all that goes for it.
		if v, ok := wholeTree(&window, x); ok {
			trees = append(trees, v)
		}
	}
	return trees, nil
}

// treeHead is more than the header of an entry, compressed, and the first entry of a tree take.
const treeHead = packfmt.MaxHeaderSize + 256

func wholeTree(w *packWindow, x wanted) (v treeVersion, ok bool) {
	head, err := w.bytes(x.at.offset, min(x.at.offset+treeHead, w.pack.size-packfmt.TrailerSize))
	if err != nil {
		return v, false
	}
	h, err := packfmt.ParseHeader(head)
	if err != nil || h.Type != plumbing.TreeObject || h.Size < minTree || h.Size > treeItemBytes {
		return v, false
	}
	begin, err := packfmt.InflatePrefix(bytes.NewReader(head[h.Length:]), firstEntryBytes)
	if err != nil {
		return v, false
	}
	return treeVersion{wanted: x, family: familyOf(begin), size: int(h.Size)}, true
}

// firstEntryBytes is how much of the first entry of a tree tells directories apart.
const firstEntryBytes = 96

var familySeed = maphash.MakeSeed()

// familyOf tells a directory by its first entry, name and id: an append to the directory does not change it. Two that are
// taken for one cost a little room and nothing else.
func familyOf(tree []byte) uint64 {
	end := bytes.IndexByte(tree, 0)
	if end < 0 {
		return maphash.Bytes(familySeed, tree)
	}
	return maphash.Bytes(familySeed, tree[:min(len(tree), end+1+len(plumbing.Hash{}))])
}

// placeTrees writes the trees first, versions of one directory together, the longest and so the newest of them whole.
func (c *copier) placeTrees(trees []treeVersion) error {
	slices.SortFunc(trees, func(a, b treeVersion) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(b.size, a.size), bytes.Compare(a.hash[:], b.hash[:]))
	})
	c.placed = make(map[storedCopy]int64, len(trees))
	for len(trees) > 0 {
		n := 1
		for n < len(trees) && trees[n].family == trees[0].family {
			n++
		}
		if err := c.placeVersions(trees[:n]); err != nil {
			return err
		}
		trees = trees[n:]
	}
	return nil
}

// placeVersions writes trees of which each is probably an earlier version of the first.
func (c *copier) placeVersions(trees []treeVersion) error {
	var newest []byte
	var newestAt int64
	for _, t := range trees {
		if c.pause != nil {
			if err := c.pause(); err != nil {
				return err
			}
		}
		data, err := c.treeData(t)
		if err != nil {
			return &copyError{t.at.pack, err}
		}
		at := c.w.Offset()
		delta := packfmt.MakeDelta(newest, data)
		if newest != nil && len(delta) < len(data)/2 {
			err = c.w.Delta(t.hash, newestAt, delta)
		} else {
			newest, newestAt = data, at
			err = c.w.Object(t.hash, plumbing.TreeObject, data)
		}
		if err != nil {
			return err
		}
		c.placed[t.at] = at
	}
	return nil
}

func (c *copier) treeData(t treeVersion) ([]byte, error) {
	if t.data != nil {
		return t.data, nil
	}
	o, err := c.load(t.hash)
	return o.Data, err
}
