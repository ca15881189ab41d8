package gitstore

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/sync/gitstore/internal/packfmt"
)

// An arrival is one entry of a received pack, in as few bytes as will do: there may be millions.
type arrival struct {
	offset int64
	hash   plumbing.Hash // once the object is known
	crc    uint32
	base   int32               // OFS delta: the base's number; otherwise -1
	turn   int32               // when the object became known: a delta after its base
	kind   plumbing.ObjectType // of the object, once it is known
	delta  bool
}

// A refDelta is a delta whose base is named by id.
type refDelta struct {
	base  plumbing.Hash
	entry int32
}

// arrivals is the table of a received pack.
type arrivals struct {
	count int       // entries that the pack's header announces
	list  []arrival // by offset
	kids  []int32   // OFS deltas, by base
	refs  []refDelta
	known int32           // objects so far
	order []int32         // all entries by hash, once all are known; of equal ones only the first that was
	thin  []plumbing.Hash // bases that the pack counts on the store for
}

// trustedCount is for how many entries room is made on the word of a pack's header.
const trustedCount = 1 << 16

func newArrivals(count int) *arrivals {
	return &arrivals{count: count, list: make([]arrival, 0, min(count, trustedCount))}
}

// add enters the entry at offset, which inflates to data.
func (t *arrivals) add(offset int64, crc uint32, h packfmt.Header, data []byte) error {
	a := arrival{offset: offset, crc: crc, base: -1, delta: h.Type.IsDelta()}
	switch h.Type {
	case plumbing.OFSDeltaObject:
		base, ok := t.at(offset - h.Distance)
		if !ok {
			return fmt.Errorf("%w pack entry: no entry begins where its delta base should", packfmt.ErrMalformed)
		}
		a.base = base
		t.kids = append(t.kids, int32(len(t.list)))
	case plumbing.REFDeltaObject:
		t.refs = append(t.refs, refDelta{h.Base, int32(len(t.list))})
	default:
		var err error
		if a.hash, err = hashReceived(h.Type, data); err != nil {
			return err
		}
		a.kind, a.turn = h.Type, t.nextTurn()
	}
	t.grow()
	t.list = append(t.list, a)
	return nil
}

// grow makes room for as many entries again as have come, but no more than were announced: the table of a large pack
// must not take twice what it needs.
func (t *arrivals) grow() {
	n := len(t.list)
	if n < cap(t.list) || n >= t.count {
		return
	}
	t.list = append(make([]arrival, 0, min(2*n, t.count)), t.list...)
}

func (t *arrivals) nextTurn() int32 {
	t.known++
	return t.known
}

// identify enters the object that a delta makes.
func (t *arrivals) identify(entry int32, o Object) error {
	a := &t.list[entry]
	h, err := hashReceived(o.Type, o.Data)
	if err != nil {
		return &BadPackError{Offset: a.offset, Err: err}
	}
	a.hash, a.kind, a.turn = h, o.Type, t.nextTurn()
	return nil
}

// at returns the number of the entry at offset.
func (t *arrivals) at(offset int64) (int32, bool) {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].offset >= offset })
	return int32(i), i < len(t.list) && t.list[i].offset == offset
}

// link sorts the deltas by their bases, so that children can answer.
func (t *arrivals) link() {
	slices.SortStableFunc(t.kids, func(a, b int32) int { return int(t.list[a].base) - int(t.list[b].base) })
	slices.SortStableFunc(t.refs, func(a, b refDelta) int { return bytes.Compare(a.base[:], b.base[:]) })
}

// children returns the numbers of the entries that are deltas of entry i, whose hash is known. If an object came twice, the
// deltas that name it by id belong to one entry: the first to get here, and once find works the one that it returns.
func (t *arrivals) children(i int32) []int32 {
	lo := sort.Search(len(t.kids), func(k int) bool { return t.list[t.kids[k]].base >= i })
	hi := lo + sort.Search(len(t.kids)-lo, func(k int) bool { return t.list[t.kids[lo+k]].base > i })
	named := t.refsTo(t.list[i].hash)
	if len(named) == 0 || t.belongElsewhere(named, i) {
		return t.kids[lo:hi:hi]
	}
	// They come first: another copy among the others finds them known, and does not list them again.
	all := make([]int32, 0, len(named)+hi-lo)
	for _, r := range named {
		all = append(all, r.entry)
	}
	return append(all, t.kids[lo:hi]...)
}

// belongElsewhere reports whether another copy of entry i's object has these deltas.
func (t *arrivals) belongElsewhere(named []refDelta, i int32) bool {
	if t.order == nil {
		return t.list[named[0].entry].kind != plumbing.InvalidObject
	}
	first, ok := t.find(t.list[i].hash)
	return ok && first != i
}

func (t *arrivals) refsTo(h plumbing.Hash) []refDelta {
	lo := sort.Search(len(t.refs), func(k int) bool { return bytes.Compare(t.refs[k].base[:], h[:]) >= 0 })
	hi := lo
	for hi < len(t.refs) && t.refs[hi].base == h {
		hi++
	}
	return t.refs[lo:hi]
}

// sortByHash makes find work. All hashes are known by now.
func (t *arrivals) sortByHash() {
	t.order = make([]int32, len(t.list))
	for i := range t.order {
		t.order[i] = int32(i)
	}
	slices.SortFunc(t.order, func(a, b int32) int {
		x, y := &t.list[a], &t.list[b]
		return cmp.Or(bytes.Compare(x.hash[:], y.hash[:]), cmp.Compare(x.turn, y.turn))
	})
	t.order = slices.CompactFunc(t.order, func(a, b int32) bool { return t.list[a].hash == t.list[b].hash })
}

// find returns the number of the entry that holds the object h.
func (t *arrivals) find(h plumbing.Hash) (int32, bool) {
	i := sort.Search(len(t.order), func(i int) bool {
		return bytes.Compare(t.list[t.order[i]].hash[:], h[:]) >= 0
	})
	if i == len(t.order) || t.list[t.order[i]].hash != h {
		return 0, false
	}
	return t.order[i], true
}

// indexEntries returns what an index of the pack holds. An object that came twice is entered once, with the copy that was
// known first: the other one may be a delta that grows from it.
func (t *arrivals) indexEntries() []packfmt.IndexEntry {
	entries := make([]packfmt.IndexEntry, len(t.order))
	for i, n := range t.order {
		a := &t.list[n]
		entries[i] = packfmt.IndexEntry{Hash: a.hash, Offset: a.offset, CRC: a.crc}
	}
	return entries
}
