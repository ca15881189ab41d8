package gittree

import (
	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore"
)

// An Overlay is a Reader that knows objects which are not stored yet, so that several inserts can build on each other
// before anything is written. It is not safe for concurrent use.
type Overlay struct {
	under Reader
	extra map[plumbing.Hash]gitstore.Object
}

// NewOverlay returns an Overlay that knows what r knows.
func NewOverlay(r Reader) *Overlay {
	return &Overlay{under: r, extra: make(map[plumbing.Hash]gitstore.Object)}
}

// Add makes more objects known.
func (o *Overlay) Add(objects ...gitstore.Object) {
	for _, x := range objects {
		o.extra[x.Hash] = x
	}
}

// Object returns an added object, or else what the Reader below has.
func (o *Overlay) Object(h plumbing.Hash) (gitstore.Object, error) {
	if x, ok := o.extra[h]; ok {
		return x, nil
	}
	return o.under.Object(h)
}
