package gitstore

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// walkBytes is how much the objects may take from which others on the way are still to be rebuilt.
const walkBytes = 32 << 20

// A walker visits the objects of a received pack depth first, from each whole object to the deltas that grow from it, so
// that nothing is inflated more often than it must be and little is held in memory.
type walker struct {
	s     *Store
	pack  *pack
	table *arrivals
	lim   Limits
	visit func(entry int32, o Object) error
	// onlyUnknown leaves out what was visited before, by way of another copy of its base.
	onlyUnknown bool

	stack    []frame
	held     int64 // bytes of objects in stack
	inflated int64 // bytes of objects rebuilt so far, each as often as it was
}

// A frame is an object on the way from a whole object to the one being visited.
type frame struct {
	entry   int32 // -1 for a base from the store
	base    plumbing.Hash
	obj     Object
	dropped bool    // obj had to make room
	kids    []int32 // still to be visited
}

// whole reads an entry that is no delta.
func (w *walker) whole(entry int32) (Object, error) {
	a := w.table.list[entry]
	_, data, err := readEntry(storedCopy{w.pack, a.offset})
	return Object{Type: a.kind, Hash: a.hash, Data: data}, err
}

// descend visits everything that grows from base.
func (w *walker) descend(ctx context.Context, base frame) error {
	if err := w.push(base); err != nil {
		return err
	}
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		if len(top.kids) == 0 {
			w.pop()
			continue
		}
		kid := top.kids[0]
		top.kids = top.kids[1:]
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.onlyUnknown && w.table.list[kid].kind != plumbing.InvalidObject {
			continue
		}
		if err := w.step(kid); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) step(kid int32) error {
	base, err := w.restore(len(w.stack) - 1)
	if err != nil {
		return err
	}
	o, err := w.rebuild(kid, base)
	if err != nil {
		return err
	}
	if err := w.visit(kid, o); err != nil {
		return err
	}
	o.Hash = w.table.list[kid].hash
	return w.push(frame{entry: kid, obj: o, kids: w.table.children(kid)})
}

func (w *walker) push(f frame) error {
	if len(f.kids) == 0 {
		return nil
	}
	if err := w.lim.checkDepth(len(w.stack) + 1); err != nil {
		return err
	}
	w.stack = append(w.stack, f)
	w.held += int64(len(f.obj.Data))
	w.shrink()
	return nil
}

func (w *walker) pop() {
	last := len(w.stack) - 1
	w.held -= int64(len(w.stack[last].obj.Data))
	w.stack[last] = frame{}
	w.stack = w.stack[:last]
}

// shrink drops what is deepest in the stack: it will be needed last.
func (w *walker) shrink() {
	for i := range w.stack[:len(w.stack)-1] {
		if w.held <= walkBytes {
			return
		}
		f := &w.stack[i]
		w.held -= int64(len(f.obj.Data))
		f.obj.Data, f.dropped = nil, true
	}
}

// restore returns the object of frame i, rebuilding it if it was dropped.
func (w *walker) restore(i int) (Object, error) {
	from := i
	for from > 0 && w.stack[from].dropped {
		from--
	}
	o := w.stack[from].obj
	var err error
	if w.stack[from].dropped {
		if o, err = w.root(w.stack[from]); err != nil {
			return Object{}, err
		}
	}
	for _, f := range w.stack[from+1 : i+1] {
		if o, err = w.rebuild(f.entry, o); err != nil {
			return Object{}, err
		}
	}
	if f := &w.stack[i]; f.dropped {
		f.obj, f.dropped = o, false
		w.held += int64(len(o.Data))
		w.shrink()
	}
	return o, nil
}

func (w *walker) root(f frame) (Object, error) {
	if f.entry < 0 {
		return w.s.Object(f.base)
	}
	return w.whole(f.entry)
}

// rebuild applies the delta in entry to base.
func (w *walker) rebuild(entry int32, base Object) (Object, error) {
	at := w.table.list[entry].offset
	_, delta, err := readEntry(storedCopy{w.pack, at})
	if err != nil {
		return Object{}, err
	}
	o, err := applyDelta(base, delta)
	if err != nil {
		return Object{}, &BadPackError{Offset: at, Err: err}
	}
	w.inflated += int64(len(o.Data))
	return o, w.lim.checkInflated(w.inflated)
}

// fromStore visits what grows from a base that the pack does not hold.
func (w *walker) fromStore(ctx context.Context, base plumbing.Hash) error {
	o, err := w.s.Object(base)
	if err != nil {
		return err
	}
	var kids []int32
	for _, r := range w.table.refsTo(base) {
		kids = append(kids, r.entry)
	}
	return w.descend(ctx, frame{entry: -1, base: base, obj: o, kids: kids})
}

// all visits every object of a pack that has been resolved, each once.
func (w *walker) all(ctx context.Context) error {
	for i := range w.table.list {
		if w.table.list[i].delta {
			continue
		}
		o, err := w.whole(int32(i))
		if err != nil {
			return err
		}
		if err := w.visit(int32(i), o); err != nil {
			return err
		}
		if err := w.descend(ctx, frame{entry: int32(i), obj: o, kids: w.table.children(int32(i))}); err != nil {
			return err
		}
	}
	for _, base := range w.table.thin {
		if err := w.fromStore(ctx, base); err != nil {
			return err
		}
	}
	return nil
}
