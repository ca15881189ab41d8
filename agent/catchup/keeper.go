package catchup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// Options say where a Keeper keeps things.
type Options struct {
	FS    disk.FS
	Index string                    // folder of the index
	Facts func(space string) string // file of a space's facts
	// Hidden names events that must not be found, such as one in which a newer
	// rule saw a secret; nil hides none. It is called from many goroutines.
	Hidden func(space string, id event.ID) bool
	// Embedder gives notes and questions their places; nil gives none.
	Embedder *embed.Source
	// Trouble is told what goes wrong in the background and is tried again.
	Trouble func(error)
}

// A Keeper keeps what is derived from all logs of one home. It is safe for
// concurrent use.
type Keeper struct {
	opt    Options
	access access
	sweep  chore           // see sweepSoon
	ctx    context.Context // of work in the background
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	spaces map[string]*Space
	job    *job // the rebuild under way or the last one
	closed bool
}

// Open makes a Keeper without spaces. The index is opened when it is first
// needed. The caller closes it.
func Open(opt Options) *Keeper {
	if opt.Trouble == nil {
		opt.Trouble = func(error) {}
	}
	k := &Keeper{opt: opt, spaces: map[string]*Space{}}
	k.access = access{fs: opt.FS, dir: opt.Index, trouble: opt.Trouble}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	opt.Embedder.Now() // begins to load it
	return k
}

// Add makes a space known and loads its facts, which need not be level yet.
func (k *Keeper) Add(log Log) (*Space, error) {
	name := log.Space().Name
	path := k.opt.Facts(name)
	if err := k.opt.FS.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the facts of space %s: %w", name, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, ErrClosed
	}
	if _, known := k.spaces[name]; known {
		return nil, fmt.Errorf("space %s is known already", name)
	}
	f, err := openFacts(k.opt.FS, path, k.opt.Trouble)
	if err != nil {
		return nil, err
	}
	s := &Space{name: name, log: log, keeper: k, facts: f}
	s.unplaced.some = true // until somebody has looked
	k.spaces[name] = s
	return s, nil
}

func (k *Keeper) all() []*Space {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*Space
	for _, s := range k.spaces {
		out = append(out, s)
	}
	return out
}

// Ask searches the index as it is. Errors: ErrBehind if there is none yet,
// those of search.Index.Ask.
func (k *Keeper) Ask(ctx context.Context, q search.Query) (search.Result, error) {
	if by := k.opt.Embedder.Now(); by != nil && q.Meaning == nil && !(q.Prefix && k.opt.Embedder.Slow()) {
		q.Meaning = by.Question(meant(q.Text))
	}
	var r search.Result
	err := k.access.read(func(x rows) (err error) {
		r, err = x.Ask(ctx, q)
		return err
	})
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	return search.Result{}, k.behind(err)
}

// Close ends the work in the background and lets go of index and facts.
// Further calls of it do nothing.
func (k *Keeper) Close() error {
	k.mu.Lock()
	closed := k.closed
	k.closed = true
	k.mu.Unlock()
	if closed {
		return nil
	}
	k.cancel()
	k.work.Wait()
	for _, s := range k.all() {
		s.finish()
	}
	err := k.access.close()
	for _, s := range k.all() {
		err = errors.Join(err, s.facts.close())
	}
	return err
}
