package repository

import (
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Change is one ref of one repository that points somewhere new.
type Change struct {
	Seq        uint64 // counts up by one with each change at this hub
	Repository *Repository
	Ref        string
	New        plumbing.Hash
}

// backlog is how many changes wait for a slow watcher before it is dropped.
const backlog = 256

// A Feed tells watchers about changes. Telling never waits: a watcher that
// does not keep up is dropped and asks anew. It is safe for concurrent use.
type Feed struct {
	mu       sync.Mutex // guards the rest, and keeps changes in order
	seq      uint64
	watchers map[*Watcher]struct{}
}

// NewFeed is a feed without watchers.
func NewFeed() *Feed { return &Feed{watchers: map[*Watcher]struct{}{}} }

// A Watcher follows some repositories.
type Watcher struct {
	// Changes is closed when the watcher was too slow and missed some.
	Changes <-chan Change
	// Since is the number of the last change before the first that is told.
	Since uint64

	feed *Feed
	out  chan Change
	of   map[*Repository]bool
}

// Watch tells the changes of the given repositories from now on. Whoever then
// reads their refs misses nothing, and may be told something they have read.
// The caller calls Close.
func (f *Feed) Watch(repositories ...*Repository) *Watcher {
	out := make(chan Change, backlog)
	w := &Watcher{Changes: out, out: out, feed: f, of: map[*Repository]bool{}}
	for _, r := range repositories {
		w.of[r] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Since = f.seq
	f.watchers[w] = struct{}{}
	return w
}

// Close ends the watching.
func (w *Watcher) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	w.feed.drop(w)
}

func (f *Feed) drop(w *Watcher) {
	if _, ok := f.watchers[w]; ok {
		delete(f.watchers, w)
		close(w.out)
	}
}

func (f *Feed) tell(r *Repository, ref string, now plumbing.Hash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	c := Change{Seq: f.seq, Repository: r, Ref: ref, New: now}
	for w := range f.watchers {
		if !w.of[r] {
			continue
		}
		select {
		case w.out <- c:
		default:
			f.drop(w)
		}
	}
}
