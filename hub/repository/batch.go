package repository

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gitwire"
	"cairn/sync/history"
	"cairn/sync/merge"
)

// A landing is a checked push that waits for its turn to become part of the
// history. Who waits behind another one lands together with all who wait: the
// branch moves once, and each gets an answer of its own.
type landing struct {
	ctx   context.Context
	q     *gitstore.Quarantine
	cmd   gitwire.Command
	by    claimant
	epoch plumbing.Hash // in which it was checked
	// stands says whether it would be judged in the same way now.
	stands func() (bool, error)

	joined  merge.Result // once it was joined with the others
	done    landed
	refused *no
	err     error
	ended   chan struct{} // closed when the three above are final
}

// A queue is the landings of a repository that wait.
type queue struct {
	leading chan struct{} // who lands the others has it

	mu   sync.Mutex // guards list
	list []*landing
}

func newQueue() *queue { return &queue{leading: make(chan struct{}, 1)} }

func (w *queue) add(l *landing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, l)
}

// leave takes a landing out, unless it is being landed.
func (w *queue) leave(l *landing) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.list)
	w.list = slices.DeleteFunc(w.list, func(x *landing) bool { return x == l })
	return len(w.list) < n
}

func (w *queue) takeAll() []*landing {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.list
	w.list = nil
	return all
}

// land makes a checked push part of the history, with all others that wait. The
// caller says who pushes what, and the epoch in which it was checked.
func (r *Repository) land(l *landing) (landed, *no, error) {
	ctx := l.ctx
	l.ended = make(chan struct{})
	r.queue.add(l)
	select {
	case r.queue.leading <- struct{}{}:
		err := r.leadOnce(ctx)
		if err != nil && r.queue.leave(l) {
			return landed{}, nil, err
		}
		if err != nil { // all were landed before
			r.set.log.Warn("end a landing", "space", r.Space().Name, "err", err)
		}
	case <-l.ended:
	case <-ctx.Done():
		if r.queue.leave(l) {
			return landed{}, nil, context.Cause(ctx)
		}
	}
	<-l.ended
	return l.done, l.refused, l.err
}

// leadOnce is lead for who leads, and makes room for the next.
func (r *Repository) leadOnce(ctx context.Context) error {
	defer func() { <-r.queue.leading }()
	return r.lead(ctx)
}

// lead lands all that wait. An error means that none was landed, and they wait
// on.
func (r *Repository) lead(ctx context.Context) (err error) {
	lock, err := r.log.Store().Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	all := r.queue.takeAll()
	whole := false
	defer func() {
		for _, l := range all {
			if !whole { // somebody panics: nobody must take that for success
				l.done, l.refused, l.err = landed{}, nil, errHalfway
			}
			close(l.ended)
		}
	}()
	r.landAll(all)
	whole = true
	return nil
}

var errHalfway = errors.New("the pushes that were landed together were given up halfway")

// landAll moves the branch over all landings. Called with the store's lock.
func (r *Repository) landAll(all []*landing) {
	fail := func(err error) {
		for _, l := range all {
			l.done, l.err = landed{}, err
		}
	}
	head, err := r.log.Head()
	if err != nil {
		fail(err)
		return
	}
	if all, err = r.ofNow(head.Commit, all); err != nil {
		fail(err)
		return
	}
	b, err := r.newBatch(head.Commit, all)
	if err != nil {
		fail(err)
		return
	}
	taken := b.join(inOrder(all))
	if b.tip == head.Commit {
		return
	}
	if err := r.moveTo(b.tip, head.Ref, head.Commit, taken); err != nil {
		for _, l := range taken {
			l.done, l.err = landed{}, err
			if errors.Is(err, gitstore.ErrRefChanged) {
				l.refused, l.err = noBusy, nil
			}
		}
		return
	}
	r.set.feed.tell(r, head.Ref, b.tip)
	for range taken {
		r.tidy.after()
	}
}

// ofNow leaves out the landings that were checked before something was purged,
// or by a judgement that is not in force any more, and tells them.
func (r *Repository) ofNow(head plumbing.Hash, all []*landing) ([]*landing, error) {
	var now []*landing
	for _, l := range all {
		still, err := r.isStill(l.epoch, head)
		if err != nil {
			return all, err
		}
		switch {
		case !still:
			l.refused = noPurge
		case l.isOutdated():
		default:
			now = append(now, l)
		}
	}
	return now, nil
}

// isOutdated says whether the landing has to be judged again, or why that cannot
// be told.
func (l *landing) isOutdated() bool {
	stands, err := l.stands()
	if l.err = err; err == nil && !stands {
		l.refused = noLonger
	}
	return err != nil || !stands
}

// moveTo makes what the landings brought visible, and then moves the branch.
func (r *Repository) moveTo(tip plumbing.Hash, ref string, from plumbing.Hash, taken []*landing) error {
	var brought []*gitstore.Quarantine
	for _, l := range taken {
		brought = append(brought, l.q)
	}
	if err := gitstore.PublishTogether(brought...); err != nil {
		return err
	}
	return r.log.Store().UpdateRef(ref, from, tip)
}

// inOrder sorts landings: those that may only move the branch forward, as they
// came, and then the others by their commits, so that whoever joins the same
// ones makes the same commits.
func inOrder(all []*landing) []*landing {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *landing) int {
		forward, other := a.cmd.Ref == event.MainRef, b.cmd.Ref == event.MainRef
		switch {
		case forward && other:
			return 0
		case forward:
			return -1
		case other:
			return 1
		}
		return bytes.Compare(a.cmd.New[:], b.cmd.New[:])
	})
	return sorted
}

// A batch joins landings one after the other into a chain, without storing
// anything. It reads what they brought and what is stored.
type batch struct {
	r     *Repository
	all   []*landing
	store *gitstore.Store
	graph *history.Graph
	head  plumbing.Hash // of the branch
	tip   plumbing.Hash // of the chain so far
}

func (r *Repository) newBatch(head plumbing.Hash, all []*landing) (*batch, error) {
	known, err := r.history(map[string]plumbing.Hash{event.MainRef: head})
	if err != nil {
		return nil, err
	}
	b := &batch{r: r, all: all, store: r.log.Store(), head: head, tip: head}
	b.graph = known.Fork(b)
	return b, nil
}

// Object finds an object in what any of the landings brought, or in the store.
func (b *batch) Object(h plumbing.Hash) (gitstore.Object, error) {
	for _, l := range b.all {
		if l.q.HasNew(h) {
			return l.q.Object(h)
		}
	}
	return b.store.Object(h)
}

func (b *batch) Has(h plumbing.Hash) (bool, error) {
	for _, l := range b.all {
		if l.q.HasNew(h) {
			return true, nil
		}
	}
	return b.store.Has(h)
}

// join lets each landing join the chain, and returns those that did. One that
// cannot, for whatever reason, is left out and told.
func (b *batch) join(all []*landing) []*landing {
	var taken []*landing
	for _, l := range all {
		if l.err = l.ctx.Err(); l.err != nil {
			l.err = context.Cause(l.ctx) // it waited longer than it is welcome
			continue
		}
		if l.joined, l.refused, l.err = b.joinOne(l); l.err == nil && l.refused == nil {
			taken = append(taken, l)
		}
	}
	for _, l := range taken {
		held := l.joined.FastForward && l.joined.Commit != l.cmd.New // the branch had it already
		l.done = landed{old: b.head, head: b.tip, merged: !held && b.tip != l.cmd.New}
	}
	return taken
}

// joinOne makes the landing the end of the chain.
func (b *batch) joinOne(l *landing) (merge.Result, *no, error) {
	joined, refused, err := b.decide(l)
	if err == nil && refused == nil {
		refused, err = b.lend(l)
	}
	if err != nil || refused != nil {
		return merge.Result{}, refused, err
	}
	if err := l.q.Add(joined.Objects...); err != nil {
		return merge.Result{}, nil, err
	}
	if err := b.graph.Add(joined.Commit); err != nil {
		return merge.Result{}, nil, err
	}
	b.tip = joined.Commit
	return joined, nil, nil
}
