package dryrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"cairn/hub/repository"
	"cairn/policy/trial"
)

// A run tries one file.
type run struct {
	runner *Runner
	key    Key
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex // guards the rest, and the trials
	all     *trial.Trial
	spaces  map[string]*tried // by key
	untried []string
	now     *pass // under way; nil for none
}

// tried is how far one space is.
type tried struct {
	name   string
	trial  *trial.Trial
	read   repository.Moment
	broken bool // its trial may have tried more than read says
}

// A pass goes once through everything that is new.
type pass struct {
	done  chan struct{}
	whole bool // nothing was left out; read after done
}

func newRun(r *Runner, key Key, all *trial.Trial) *run {
	n := &run{runner: r, key: key, began: r.o.Now(), all: all, spaces: map[string]*tried{}}
	n.ctx, n.cancel = context.WithCancel(r.ctx)
	return n
}

// pass is the one under way, or a fresh one.
func (n *run) pass() (p *pass, fresh bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now != nil {
		return n.now, false
	}
	p = &pass{done: make(chan struct{})}
	n.now = p
	n.runner.work.Go(func() {
		var untried []string
		whole := false
		defer func() {
			if p := recover(); p != nil { // it is not whole then
				n.runner.o.Log.Error("try a policy on what is there", "panic", fmt.Sprintf("%T", p)) // its text may be of a note
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			n.untried, p.whole, n.now = untried, whole, nil
			close(p.done)
		}()
		untried, whole = n.goThrough()
	})
	return p, true
}

// goThrough tries what is new in every space. It returns which could not be
// read to their end, and whether nothing was left out.
func (n *run) goThrough() (untried []string, whole bool) {
	ctx, cancel := context.WithTimeout(n.ctx, n.runner.o.Limit)
	defer cancel()
	list, err := n.runner.o.Spaces(ctx)
	if err != nil {
		n.runner.o.Log.Error("list what a policy is tried on", "err", err)
		return nil, false
	}
	for _, s := range list {
		err := n.tryNew(ctx, s)
		if errors.Is(err, repository.ErrPurgedSince) {
			err = n.tryNew(ctx, s)
		}
		if ctx.Err() != nil { // which is nothing about the space
			return untried, false
		}
		if err == nil {
			continue
		}
		n.runner.o.Log.Error("try a policy on a space", "space", s.Key, "err", err)
		if !slices.Contains(untried, s.Name) {
			untried = append(untried, s.Name)
		}
	}
	return untried, len(untried) == 0
}

// tryNew tries what a space has that it had not when it was tried last. One that
// was not read to its end is gone on with from there.
func (n *run) tryNew(ctx context.Context, s Space) error {
	at := n.at(s)
	read := at.read
	n.mu.Lock()
	at.broken = true // until it is known how far this came
	n.mu.Unlock()
	to, err := s.EventsAfter(ctx, read, func(stored []byte) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		return at.trial.AddStored(stored)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case errors.Is(err, repository.ErrPurgedSince):
		delete(n.spaces, s.Key)
	default:
		at.read, at.broken = to, false
	}
	return err
}

func (n *run) at(s Space) *tried {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.spaces[s.Key]
	if at == nil || at.broken {
		at = &tried{name: s.Name, trial: n.all.Beside()}
		if s.Counted {
			at.trial.Bounded(1)
		}
		n.spaces[s.Key] = at
	}
	return at
}

// result is what was found so far.
func (n *run) result(complete bool) Result {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := Result{Complete: complete, Untried: slices.Clone(n.untried), Idle: n.all.Result().MatchedNothing}
	byName := map[string]*SpaceResult{}
	for _, key := range slices.Sorted(maps.Keys(n.spaces)) {
		at := n.spaces[key]
		if s := byName[at.name]; s != nil {
			s.Result = s.With(at.trial.Result())
		} else {
			byName[at.name] = &SpaceResult{at.name, at.trial.Result()}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		r.Spaces = append(r.Spaces, *byName[name])
	}
	return r
}
