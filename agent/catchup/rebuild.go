package catchup

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/search"
	"cairn/search/embed"
)

// errRebuild says that a space's rows cannot be brought level one by one.
var errRebuild = errors.New("the search index has to be rebuilt")

// A mismatchError reports rows that no event stands behind, or events without
// their row.
type mismatchError struct {
	space      string
	have, want int
}

func (e *mismatchError) Error() string {
	return fmt.Sprintf("the search index has %d rows of space %s and should have %d", e.have, e.space, e.want)
}

// A job is one rebuild.
type job struct {
	done  chan struct{}
	err   error // once done is closed
	ended time.Time
	read  atomic.Int64 // events
	total atomic.Int64
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// Progress says how far a rebuild is.
type Progress struct {
	Running     bool
	Done, Total int // events
}

// Progress is the state of the rebuild under way, if there is one.
func (k *Keeper) Progress() Progress {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.job == nil || !k.job.running() {
		return Progress{}
	}
	return Progress{Running: true, Done: int(k.job.read.Load()), Total: int(k.job.total.Load())}
}

func (k *Keeper) rebuilding() bool { return k.Progress().Running }

// behind judges why the index could not be used. What a rebuild puts right
// starts one; the answer is then ErrBehind.
func (k *Keeper) behind(err error) error {
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrBehind) {
		return err
	}
	_, schema := errors.AsType[*search.SchemaError](err)
	_, damaged := errors.AsType[*search.DamagedError](err)
	_, mismatch := errors.AsType[*mismatchError](err)
	if schema || damaged || mismatch || errors.Is(err, errRebuild) {
		if why := k.failed(k.start(retryRebuild)); why != nil {
			return fmt.Errorf("%w: %w", ErrBehind, why)
		}
		return ErrBehind
	}
	if errors.Is(err, search.ErrLocked) {
		return ErrBehind
	}
	k.opt.Trouble(err)
	return fmt.Errorf("%w: %w", ErrBehind, err)
}

// retryRebuild is how long to wait after a rebuild that failed.
const retryRebuild = 2 * time.Second

// start begins a rebuild unless one is under way or has failed just now. It
// returns the one that counts.
func (k *Keeper) start(pause time.Duration) *job {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	if k.job != nil && (k.job.running() || k.job.err != nil && time.Since(k.job.ended) < pause) {
		return k.job
	}
	j := &job{done: make(chan struct{})}
	k.job = j
	k.work.Go(func() { k.run(j) })
	return j
}

// failed is why a rebuild has failed; nil if it has not, or runs.
func (k *Keeper) failed(j *job) error {
	if j == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return j.err
}

func (k *Keeper) run(j *job) {
	err := k.rebuild(j)
	k.mu.Lock()
	j.err, j.ended = err, time.Now()
	k.mu.Unlock()
	close(j.done)
	// A rebuild takes many times what is needed from then on, and an agent lives
	// long: the runtime by itself would give that back within minutes, if at all.
	debug.FreeOSMemory()
	k.report(err)
	if err != nil {
		return
	}
	for _, s := range k.all() {
		s.trust()
		s.unplaceAll()
		k.report(s.Level(k.ctx))
	}
}

// report tells what nobody is waiting to hear.
func (k *Keeper) report(err error) {
	if err != nil && !errors.Is(err, ErrBehind) && k.ctx.Err() == nil {
		k.opt.Trouble(err)
	}
}

func (k *Keeper) rebuild(j *job) error {
	spaces := k.all()
	for _, s := range spaces {
		j.total.Add(int64(s.Mark().Events))
	}
	err := k.alone(func() error {
		return search.Rebuild(k.ctx, k.opt.Index, func(put func(search.Batch) error) error {
			for _, s := range spaces {
				// One log that cannot be read must not keep the others out.
				k.report(s.fill(k.ctx, j, put))
			}
			return k.ctx.Err()
		})
	})
	if err != nil {
		return err
	}
	return k.access.reopen()
}

// How long to wait for somebody else who rebuilds, or only tidies up behind a
// rebuild.
const (
	waitAlone = 5 * time.Second
	pollAlone = 20 * time.Millisecond
)

// alone calls build again while another one holds the lock for rebuilds.
func (k *Keeper) alone(build func() error) error {
	for deadline := time.Now().Add(waitAlone); ; {
		err := build()
		if !errors.Is(err, search.ErrLocked) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(pollAlone):
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
	}
}

// fill puts all rows of the space, which are as many as they should be then.
func (s *Space) fill(ctx context.Context, j *job, put func(search.Batch) error) error {
	if len(s.facts.aside()) > 0 {
		s.facts.forget() // what is damaged may have been mended
	}
	if err := s.levelFacts(ctx); err != nil {
		return err
	}
	to := s.facts.at()
	b := &batcher{space: s, apply: put, count: func() { j.read.Add(1) }, former: s.formerVectors(ctx)}
	if err := s.log.Added(ctx, plumbing.ZeroHash, to.Tree, b.add); err != nil {
		return fmt.Errorf("read the log of space %s: %w", s.name, err)
	}
	return b.finish(search.Mark(to))
}

// formerVectors is those of the rows that are there: what a slow embedder has
// made is not lost with an index. None can be had of one that is damaged.
func (s *Space) formerVectors(ctx context.Context) map[event.ID]embed.Vector {
	by := s.keeper.opt.Embedder
	if !by.Slow() {
		return nil
	}
	now, err := by.Wait(ctx)
	if err != nil {
		return nil
	}
	former := map[event.ID]embed.Vector{}
	err = s.keeper.access.read(func(x rows) error {
		return x.Meanings(s.name, func(id event.ID, v embed.Vector) error {
			if v.IsOf(now.Name()) {
				former[id] = slices.Clone(v)
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return nil
	}
	return former
}

// trust takes the rows for complete: they were just made. Without it an error
// in counting them would start one rebuild after the other.
func (s *Space) trust() {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	s.checked = true
}

// Rebuild makes the index anew from the logs and returns when it is in use.
// Until then the present one answers.
func (k *Keeper) Rebuild(ctx context.Context) error {
	j := k.start(0)
	if j == nil {
		return ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
