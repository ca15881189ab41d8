package gitstore

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// The files of a log are alike: the same members in the same order, the same machine, the same key. So are its commits.
// Stock git, which wants a delta to be less than half of an object, finds nothing there; yet most of what compression
// cannot shorten, ids and keys, stands in one of the last few as well. So each is written as a delta of one that was
// written whole, never of another delta: reading it takes one object more, which is the same for many.

// foldLevel is the zlib level for what is written to stay.
const foldLevel = 9

const (
	// maxBases is how many objects of a type are tried as a base: as many machines may write by turns.
	maxBases = 8
	// minGain is how many bytes, not compressed, a delta must be shorter than what it makes, as a part of that: one
	// over minGain. Where less is gained, another base is due.
	minGain = 4
)

// A densifier writes objects as small as they get. It is for one pack.
type densifier struct {
	bases map[plumbing.ObjectType][]base // the one that was of use last comes first
}

type base struct {
	*packfmt.Similar
	at int64
}

func newDensifier() *densifier { return &densifier{bases: map[plumbing.ObjectType][]base{}} }

// write adds o to the pack that w writes.
func (d *densifier) write(w *packfmt.Writer, o Object) error {
	bases := d.bases[o.Type]
	best, delta := bestBase(bases, o.Data)
	if delta == nil {
		if s := packfmt.NewSimilar(o.Data); s != nil {
			bases = append(bases[:min(len(bases), maxBases-1)], base{s, w.Offset()})
			toFront(bases, len(bases)-1)
			d.bases[o.Type] = bases
		}
		return w.Object(o.Hash, o.Type, o.Data)
	}
	at := bases[best].at
	toFront(bases, best)
	return w.Delta(o.Hash, at, delta)
}

// bestBase returns the shortest delta, or nil if none is worth it.
func bestBase(bases []base, data []byte) (best int, delta []byte) {
	most := len(data) - len(data)/minGain
	for i, b := range bases {
		d := b.Delta(data)
		if len(d) < most {
			best, delta, most = i, d, len(d)
		}
	}
	return best, delta
}

func toFront(bases []base, i int) {
	b := bases[i]
	copy(bases[1:i+1], slices.Clone(bases[:i]))
	bases[0] = b
}
