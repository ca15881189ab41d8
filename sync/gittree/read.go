package gittree

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// MaxDepth is how many directories deep a path may lie.
const MaxDepth = 64

// A Reader finds objects by id; a gitstore.Reader is one. The data it returns is only read.
type Reader interface {
	Object(plumbing.Hash) (gitstore.Object, error)
}

// emptyTree is the id of the tree without entries, which every git knows without storing it.
var emptyTree = gitstore.NewObject(plumbing.TreeObject, nil).Hash

// load returns the bytes of the tree id, which lies depth directories below the root.
func load(r Reader, id plumbing.Hash, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("read tree %s: %w", id, &MalformedError{fmt.Sprintf("nested deeper than %d", MaxDepth)})
	}
	if id.IsZero() || id == emptyTree && depth == 0 {
		return nil, nil
	}
	o, err := r.Object(id)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", id, err)
	}
	if o.Type != plumbing.TreeObject {
		return nil, fmt.Errorf("read tree %s: %w", id, &MalformedError{"it is a " + o.Type.String()})
	}
	if len(o.Data) == 0 && depth > 0 {
		return nil, fmt.Errorf("read tree %s: %w", id, &MalformedError{"a directory is empty"})
	}
	return o.Data, nil
}

// table is a tree with the place of each entry, for binary search. Its entries are hopped over, and all that is known of
// them is that they begin with something.
type table struct {
	raw    []byte
	starts []int // of each entry, then len(raw)
}

func newTable(raw []byte) (table, error) {
	starts := make([]int, 1, len(raw)/32+2)
	for at := 0; at < len(raw); {
		end := bytes.IndexByte(raw[at:], 0)
		if end < 0 || at+end+1+hashSize > len(raw) {
			return table{}, &MalformedError{"the last entry is cut off"}
		}
		if end == 0 {
			return table{}, &MalformedError{"an entry has no mode and no name"}
		}
		at += end + 1 + hashSize
		starts = append(starts, at)
	}
	return table{raw, starts}, nil
}

func loadTable(r Reader, id plumbing.Hash, depth int) (table, error) {
	raw, err := load(r, id, depth)
	if err != nil {
		return table{}, err
	}
	t, err := newTable(raw)
	if err != nil {
		return table{}, fmt.Errorf("read tree %s: %w", id, err)
	}
	return t, nil
}

// search returns where the entry of this name and kind is, or would be inserted.
func (t table) search(name string, dir bool) (at int, found bool) {
	key := []byte(name)
	return sort.Find(len(t.starts)-1, func(i int) int { return -t.compare(i, key, dir) })
}

func (t table) compare(i int, name []byte, dir bool) int {
	l := t.raw[t.starts[i] : t.starts[i+1]-hashSize-1]
	return compare(l[bytes.IndexByte(l, ' ')+1:], l[0] == '4', name, dir)
}

// line returns entry i, checked.
func (t table) line(i int) (line, error) {
	l, _, err := next(t.raw[t.starts[i]:t.starts[i+1]])
	return l, err
}

// has reports whether there is an entry of this name and kind.
func (t table) has(name string, dir bool) bool {
	_, found := t.search(name, dir)
	return found
}
