package gittree

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Collector gathers the trees and blobs that a pack needs for a series of commits, each once. The series must be
// closed: whatever a tree shares with a base is at the receiver, or was added before. It is not safe for concurrent use.
type Collector struct {
	r    Reader
	seen map[plumbing.Hash]struct{}
	ids  []plumbing.Hash
}

// NewCollector returns an empty Collector.
func NewCollector(r Reader) *Collector {
	return &Collector{r: r, seen: make(map[plumbing.Hash]struct{})}
}

// Objects returns what was gathered, in the order in which it was found: a directory before its contents.
func (c *Collector) Objects() []plumbing.Hash { return c.ids }

// Add gathers root and what is below it, except for what one of the bases has at the same path.
func (c *Collector) Add(root plumbing.Hash, bases ...plumbing.Hash) error {
	return c.tree(root, bases, 0)
}

// tree gathers the directory id. One that was seen is complete: it was gathered against bases of its own, which the
// receiver has too.
func (c *Collector) tree(id plumbing.Hash, bases []plumbing.Hash, depth int) error {
	for _, b := range bases {
		if b == id {
			return nil
		}
	}
	if !c.add(id) {
		return nil
	}
	raw, err := load(c.r, id, depth)
	if err != nil {
		return err
	}
	old := make([][]byte, len(bases))
	for i, b := range bases {
		if old[i], err = load(c.r, b, depth); err != nil {
			return err
		}
	}
	return c.entries(id, raw, old, depth)
}

func (c *Collector) add(id plumbing.Hash) bool {
	if _, seen := c.seen[id]; seen || id.IsZero() {
		return false
	}
	c.seen[id] = struct{}{}
	c.ids = append(c.ids, id)
	return true
}

// entries gathers the entries of the directory id. old holds the bases, advanced in step.
func (c *Collector) entries(id plumbing.Hash, raw []byte, old [][]byte, depth int) error {
	for {
		for i, o := range old {
			n := equalPrefix(raw, o)
			raw, old[i] = raw[n:], o[n:]
		}
		if len(raw) == 0 {
			return nil
		}
		l, rest, err := next(raw)
		if err != nil {
			return fmt.Errorf("read tree %s: %w", id, err)
		}
		raw = rest
		same, err := advance(old, l)
		if err != nil {
			return fmt.Errorf("read a base of tree %s: %w", id, err)
		}
		if err := c.entry(l, same, depth); err != nil {
			return err
		}
	}
}

// entry gathers one entry; same are the ids that the bases have for it.
func (c *Collector) entry(l line, same []plumbing.Hash, depth int) error {
	if l.dir {
		return c.tree(l.hash, same, depth+1)
	}
	for _, h := range same {
		if h == l.hash {
			return nil
		}
	}
	c.add(l.hash)
	return nil
}

// advance moves each base past the entries up to and including that of l's name and kind, and returns the ids found.
func advance(old [][]byte, l line) ([]plumbing.Hash, error) {
	var same []plumbing.Hash
	for i := range old {
		for len(old[i]) > 0 {
			o, rest, err := next(old[i])
			if err != nil {
				return nil, err
			}
			c := compareLines(o, l)
			if c > 0 {
				break
			}
			old[i] = rest
			if c == 0 {
				same = append(same, o.hash)
				break
			}
		}
	}
	return same, nil
}
