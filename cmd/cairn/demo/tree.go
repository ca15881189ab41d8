package demo

import (
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// encodeSorted encodes a tree with its entries in git's order.
func encodeSorted(t *object.Tree, o plumbing.EncodedObject) error {
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return t.Encode(o)
}
