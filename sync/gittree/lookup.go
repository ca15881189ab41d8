package gittree

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Lookup returns the entry at path, a file or a directory. Errors: ErrNotFound, *MalformedError, or the Reader's.
func Lookup(r Reader, root plumbing.Hash, path string) (Entry, error) {
	tree, rest := root, path
	for depth := 0; ; depth++ {
		var name string
		var more bool
		name, rest, more = strings.Cut(rest, "/")
		l, err := lookupName(r, tree, depth, name, more)
		if err != nil {
			return Entry{}, fmt.Errorf("look up %s: %w", path, err)
		}
		if !more {
			return l.entry(), nil
		}
		tree = l.hash
	}
}

// lookupName finds name in one directory; inside says that it has to be a directory itself.
func lookupName(r Reader, tree plumbing.Hash, depth int, name string, inside bool) (line, error) {
	t, err := loadTable(r, tree, depth)
	if err != nil {
		return line{}, err
	}
	at, found := t.search(name, true)
	if !found && !inside {
		at, found = t.search(name, false)
	}
	if !found {
		return line{}, ErrNotFound
	}
	return t.line(at)
}
