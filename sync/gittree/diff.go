package gittree

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Change is one path whose content differs between two trees. Old is zero if the path is new, New is zero if it is
// gone.
type Change struct {
	Path     string
	Old, New plumbing.Hash
}

// Diff calls fn for each file that differs between the trees a and b, in the order of their paths in a tree. Equal
// directories are not read. An error of fn ends the comparison and is returned.
func Diff(r Reader, a, b plumbing.Hash, fn func(Change) error) error {
	d := differ{r, fn}
	return d.trees(a, b, "", 0)
}

// Walk calls fn for each file below root, in order. An error of fn ends the walk and is returned.
func Walk(r Reader, root plumbing.Hash, fn func(path string, blob plumbing.Hash) error) error {
	return Diff(r, plumbing.ZeroHash, root, func(c Change) error { return fn(c.Path, c.New) })
}

type differ struct {
	r  Reader
	fn func(Change) error
}

func (d differ) trees(a, b plumbing.Hash, dir string, depth int) error {
	if a == b {
		return nil
	}
	left, err := load(d.r, a, depth)
	if err != nil {
		return err
	}
	right, err := load(d.r, b, depth)
	if err != nil {
		return err
	}
	for {
		n := equalPrefix(left, right)
		left, right = left[n:], right[n:]
		if len(left) == 0 && len(right) == 0 {
			return nil
		}
		var x, y line
		if x, y, left, right, err = pair(left, right); err != nil {
			return fmt.Errorf("compare trees %s and %s: %w", a, b, err)
		}
		if err := d.entries(x, y, dir, depth); err != nil {
			return err
		}
	}
}

// entries compares two entries of one name and kind; one of them may be none.
func (d differ) entries(x, y line, dir string, depth int) error {
	path := dir + string(x.name)
	if x.name == nil {
		path = dir + string(y.name)
	}
	if x.dir || y.dir {
		return d.trees(x.hash, y.hash, path+"/", depth+1)
	}
	return d.fn(Change{Path: path, Old: x.hash, New: y.hash})
}

// equalPrefix returns the length of the entries with which both trees begin. It hops from entry to entry and parses
// none.
func equalPrefix(a, b []byte) int {
	n := 0
	for {
		size := bytes.IndexByte(a[n:], 0) + 1 + hashSize
		if size <= hashSize || n+size > len(a) || n+size > len(b) || !bytes.Equal(a[n:n+size], b[n:n+size]) {
			return n
		}
		n += size
	}
}

// pair cuts the entries of the smallest name and kind off two trees, at least one of which is not empty. A tree that
// has no such entry yields the zero line.
func pair(a, b []byte) (x, y line, restA, restB []byte, err error) {
	var afterX, afterY []byte
	if len(a) > 0 {
		if x, afterX, err = next(a); err != nil {
			return line{}, line{}, nil, nil, err
		}
	}
	if len(b) > 0 {
		if y, afterY, err = next(b); err != nil {
			return line{}, line{}, nil, nil, err
		}
	}
	switch c := compareLines(x, y); {
	case c < 0:
		return x, line{}, afterX, b, nil
	case c > 0:
		return line{}, y, a, afterY, nil
	default:
		return x, y, afterX, afterY, nil
	}
}

// compareLines orders lines as git does, the zero line last.
func compareLines(x, y line) int {
	switch {
	case y.name == nil:
		return -1
	case x.name == nil:
		return 1
	default:
		return compare(x.name, x.dir, y.name, y.dir)
	}
}
