package gittree

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// Union returns the tree that has every file of a and of b, and the tree objects that have to be stored for it, inner
// directories first; none if the union is a or b. It does not depend on the order of a and b.
// Errors: *ConflictError for the first path with two contents, *MalformedError, or the Reader's.
func Union(r Reader, a, b plumbing.Hash) (plumbing.Hash, []gitstore.Object, error) {
	u := uniter{r: r, done: make(map[pairAt]plumbing.Hash)}
	id, err := u.trees(a, b, "", 0)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	return id, u.made, nil
}

type uniter struct {
	r    Reader
	made []gitstore.Object
	done map[pairAt]plumbing.Hash
}

// pairAt is a question that Union has answered: with the same two directories in many places the answer is made once.
// The depth belongs to it because the limit does.
type pairAt struct {
	a, b  plumbing.Hash
	depth int
}

func (u *uniter) trees(a, b plumbing.Hash, dir string, depth int) (plumbing.Hash, error) {
	if a == b || b.IsZero() {
		return a, nil
	}
	if a.IsZero() {
		return b, nil
	}
	question := pairAt{a, b, depth}
	if id, ok := u.done[question]; ok {
		return id, nil
	}
	id, err := u.pair(question, dir)
	if err == nil {
		u.done[question] = id
	}
	return id, err
}

func (u *uniter) pair(q pairAt, dir string) (plumbing.Hash, error) {
	left, err := loadTable(u.r, q.a, q.depth)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	right, err := loadTable(u.r, q.b, q.depth)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	raw, err := u.join(left, right, dir, q.depth)
	switch {
	case err != nil:
		return plumbing.ZeroHash, err
	case bytes.Equal(raw, left.raw):
		return q.a, nil
	case bytes.Equal(raw, right.raw):
		return q.b, nil
	}
	o := gitstore.NewObject(plumbing.TreeObject, raw)
	u.made = append(u.made, o)
	return o.Hash, nil
}

// join returns the bytes of the union of two directories.
func (u *uniter) join(left, right table, dir string, depth int) ([]byte, error) {
	raw := make([]byte, 0, len(left.raw)+len(right.raw))
	a, b := left.raw, right.raw
	for {
		n := equalPrefix(a, b)
		raw = append(raw, a[:n]...)
		a, b = a[n:], b[n:]
		if len(a) == 0 && len(b) == 0 {
			return raw, nil
		}
		var x, y line
		var err error
		if x, y, a, b, err = pair(a, b); err != nil {
			return nil, fmt.Errorf("join directory %q: %w", dir, err)
		}
		switch {
		case y.name == nil:
			raw, err = appendAlone(raw, x, right, dir)
		case x.name == nil:
			raw, err = appendAlone(raw, y, left, dir)
		default:
			raw, err = u.appendBoth(raw, x, y, dir, depth)
		}
		if err != nil {
			return nil, err
		}
	}
}

// appendAlone adds an entry that only one side has. The other side must not use its name for the other kind of entry,
// which would stand elsewhere in the order.
func appendAlone(raw []byte, l line, other table, dir string) ([]byte, error) {
	if name := string(l.name); other.has(name, !l.dir) {
		return nil, &ConflictError{Path: dir + name}
	}
	return append(raw, l.raw...), nil
}

// appendBoth adds an entry that differs between the sides: directories are joined, files cannot be.
func (u *uniter) appendBoth(raw []byte, x, y line, dir string, depth int) ([]byte, error) {
	name := string(x.name)
	if !x.dir {
		return nil, &ConflictError{Path: dir + name}
	}
	id, err := u.trees(x.hash, y.hash, dir+name+"/", depth+1)
	if err != nil {
		return nil, err
	}
	return appendLine(raw, true, name, id), nil
}
