package faultfs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Contents says what a power cut makes of contents that were not synced. What was written before the last sync, and not
// overwritten since, is there in any case.
type Contents int

const (
	Kept   Contents = iota // they made it to the disk anyway
	Lost                   // the file is as it was when it was last synced, or empty
	Halved                 // the first half of what changed made it
	Zeroed                 // the length made it, the bytes did not
	Ended                  // the length and the second half of what changed made it, the first half did not
)

// A Survival says what of the unsynced part of a disk survives a power cut.
type Survival struct {
	Names    int // so many of the changes of names, in their order; see FS.Unsynced
	Contents Contents
	// Each chooses for each file by its path and takes the place of Contents; nil if all files fare alike.
	Each func(path string) Contents
}

func (s Survival) of(path string) Contents {
	if s.Each != nil {
		return s.Each(path)
	}
	return s.Contents
}

// An inode is a file or a directory, whatever its name.
type inode struct {
	dir    bool
	data   []byte
	synced []byte
	since  changes // between the two
}

// changes is what happened to a file since it was last synced.
type changes struct {
	spans    []span // in order, without overlaps; empty if nothing happened
	shortest int    // length of the file meanwhile
}

type span struct{ lo, hi int }

func (c *changes) add(lo, hi int) {
	i := 0
	for i < len(c.spans) && c.spans[i].hi < lo {
		i++
	}
	j := i
	for j < len(c.spans) && c.spans[j].lo <= hi {
		lo, hi = min(lo, c.spans[j].lo), max(hi, c.spans[j].hi)
		j++
	}
	c.spans = slices.Replace(c.spans, i, j, span{lo, hi})
}

func (n *inode) changed(lo, hi int) {
	if len(n.since.spans) == 0 {
		n.since.shortest = len(n.data)
		n.data = slices.Clone(n.data) // synced is the same slice
	}
	n.since.add(lo, hi)
}

func (n *inode) write(b []byte, at int64) {
	if len(b) == 0 {
		return
	}
	lo, hi := int(at), int(at)+len(b)
	n.changed(min(lo, len(n.data)), hi)
	n.data = append(n.data, make([]byte, max(0, hi-len(n.data)))...)
	copy(n.data[lo:], b)
}

func (n *inode) truncate(size int64) {
	old, now := len(n.data), int(size)
	n.changed(min(old, now), max(old, now))
	n.data = append(n.data[:min(old, now)], make([]byte, max(0, now-old))...)
	n.since.shortest = min(n.since.shortest, now)
}

func (n *inode) sync() { n.synced, n.since = n.data, changes{} }

// after returns what a power cut leaves of the contents.
func (n *inode) after(c Contents) []byte {
	switch {
	case len(n.since.spans) == 0 || c == Kept:
		return n.data
	case c == Lost:
		return n.synced
	}
	total := 0
	for _, s := range n.since.spans {
		total += s.hi - s.lo
	}
	former := n.synced[:min(len(n.synced), n.since.shortest)]
	out, end, half := slices.Clone(n.data), len(former), total/2
	for _, s := range n.since.spans {
		mid := min(s.lo+half, s.hi)
		half -= mid - s.lo
		switch c {
		case Halved:
			revert(out, former, mid, s.hi)
			if mid > s.lo {
				end = max(end, mid)
			}
		case Zeroed:
			revert(out, nil, s.lo, s.hi)
		case Ended:
			revert(out, former, s.lo, mid)
		}
	}
	if c == Halved {
		return out[:min(end, len(out))]
	}
	return out
}

// revert makes a part of data what it was in former, or zeros.
func revert(data, former []byte, lo, hi int) {
	lo, hi = min(lo, len(data)), min(hi, len(data))
	clear(data[lo:hi])
	if lo < len(former) {
		copy(data[lo:hi], former[lo:])
	}
}

// A model is the disk as the running system sees it, and as it would be after a power cut.
type model struct {
	names   map[string]*inode // now
	durable map[string]*inode // after a power cut that nothing unsynced survives
	pending []change          // what leads from durable to names
}

// A change is one change of names that a power cut may undo.
type change struct {
	dir   string // whose sync makes it safe
	apply func(names map[string]*inode)
}

func (m *model) init() {
	m.names, m.durable = map[string]*inode{}, map[string]*inode{}
}

func (m *model) change(dir string, apply func(map[string]*inode)) {
	apply(m.names)
	m.pending = append(m.pending, change{dir, apply})
}

func (m *model) open(name string, flag int) {
	n := m.names[name]
	if n == nil && flag&os.O_CREATE != 0 {
		m.link(name, &inode{})
	}
	if n != nil && flag&os.O_TRUNC != 0 {
		n.truncate(0)
	}
}

func (m *model) link(name string, n *inode) {
	m.change(filepath.Dir(name), func(names map[string]*inode) { names[name] = n })
}

func (m *model) linkAll(root, dir string) {
	if m.names[dir] != nil || !strings.HasPrefix(dir, root) {
		return
	}
	if dir != root {
		m.linkAll(root, filepath.Dir(dir))
	}
	m.link(dir, &inode{dir: true})
}

func (m *model) unlink(name string) {
	m.change(filepath.Dir(name), func(names map[string]*inode) { delete(names, name) })
}

func (m *model) unlinkAll(name string) {
	m.change(filepath.Dir(name), func(names map[string]*inode) {
		maps.DeleteFunc(names, func(path string, _ *inode) bool { return path == name || isBelow(path, name) })
	})
}

// rename moves a file, whose new name leads to it even if its old one was never safe, or a directory with all below it.
func (m *model) rename(oldname, newname string) {
	node := m.names[oldname]
	if node == nil || node.dir {
		m.change(filepath.Dir(newname), func(names map[string]*inode) { moveTree(names, oldname, newname) })
		return
	}
	m.change(filepath.Dir(newname), func(names map[string]*inode) {
		delete(names, oldname)
		names[newname] = node
	})
}

func moveTree(names map[string]*inode, oldname, newname string) {
	moved := map[string]*inode{}
	maps.DeleteFunc(names, func(path string, n *inode) bool {
		if path != oldname && !isBelow(path, oldname) {
			return false
		}
		moved[newname+path[len(oldname):]] = n
		return true
	})
	maps.Copy(names, moved)
}

// syncDir makes the changes of one directory safe.
func (m *model) syncDir(dir string) {
	m.pending = slices.DeleteFunc(m.pending, func(c change) bool {
		if c.dir != dir {
			return false
		}
		c.apply(m.durable)
		return true
	})
}

// A survivor is a file or directory that is found after a power cut.
type survivor struct {
	path string
	node *inode
}

// after returns what is found if the first changes of names survive, parents before their children. What is in a directory
// that did not survive is lost with it.
func (m *model) after(changes int) []survivor {
	names := maps.Clone(m.durable)
	for _, c := range m.pending[:min(changes, len(m.pending))] {
		c.apply(names)
	}
	var found []survivor
	reached := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		parent := filepath.Dir(path)
		if names[parent] != nil && !reached[parent] {
			continue
		}
		if names[parent] == nil && len(found) > 0 {
			continue
		}
		reached[path] = names[path].dir
		found = append(found, survivor{path, names[path]})
	}
	return found
}

func isBelow(path, dir string) bool {
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}
