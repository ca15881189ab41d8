package dryrun

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cairn/hub/repository"
	"cairn/internal/hubwire"
	"cairn/policy"
	"cairn/policy/rules"
	"cairn/policy/trial"
	"cairn/policy/versions"
)

// A Space is one whose events are tried.
type Space struct {
	// Name is that of the result. Several spaces of one name, such as everybody's
	// own, share one.
	Name string
	Key  string // another for each
	// Counted says that none of its events is listed.
	Counted bool
	// EventsAfter is as in repository.Repository.
	EventsAfter func(context.Context, repository.Moment, func([]byte) error) (repository.Moment, error)
}

// Options are what a Runner works with.
type Options struct {
	Spaces func(context.Context) ([]Space, error)
	Limit  time.Duration // for one pass through everything: 10 minutes if zero
	Listed int           // of each list of one space: 200 if zero
	Now    func() time.Time
	Log    *slog.Logger // of what kept a run from its end; nil is nobody
}

// A Runner keeps the run that was asked for last. It is safe for concurrent
// use.
type Runner struct {
	o    Options
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu  sync.Mutex
	run *run
}

// New is a Runner that has not begun. The caller closes it.
func New(o Options) *Runner {
	if o.Limit <= 0 {
		o.Limit = 10 * time.Minute
	}
	if o.Listed <= 0 {
		o.Listed = 200
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{o: o}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Close ends the run and waits for it.
func (r *Runner) Close() {
	r.stop()
	r.work.Wait()
}

// A Key names what is compared: a file, and the version in force that it would
// replace.
type Key struct {
	File   versions.Hash
	Before hubwire.PolicyMark // zero for the built-in rules
}

// lasting is how long the verdicts of a run count: by then an exception or a trial
// may have ended, in either file.
const lasting = time.Hour

// A Result is what a run has found so far.
type Result struct {
	Complete bool          // everything was tried that was there when it was asked for
	Untried  []string      // spaces that cannot be read to their end
	Spaces   []SpaceResult // by name
	Idle     []trial.Idle  // lines of the file that have done nothing in any
}

// A SpaceResult is what would change in one space.
type SpaceResult struct {
	Name string
	trial.Result
}

// A Trial is a run that somebody has asked for.
type Trial struct {
	runner *Runner
	run    *run
}

// Try tries the rules of a file against the policy in force. A run for the same
// key is gone on with unless it began long ago; any other one ends.
func (r *Runner) Try(key Key, before *policy.Policy, after *rules.Rules) *Trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == nil || r.run.key != key || r.o.Now().Sub(r.run.began) > lasting {
		if r.run != nil {
			r.run.cancel()
		}
		r.run = newRun(r, key, trial.New(before, after, r.o.Now()).Bounded(r.o.Listed))
	}
	return &Trial{r, r.run}
}

// Result waits for so long until everything is tried that is there now, and
// returns what was found by then. The error is ctx's.
func (t *Trial) Result(ctx context.Context, wait time.Duration) (Result, error) {
	enough := time.NewTimer(wait)
	defer enough.Stop()
	// A pass that is under way may have gone past what came since: one more does not.
	for range 2 {
		pass, fresh := t.run.pass()
		select {
		case <-pass.done:
		case <-enough.C:
			return t.run.result(false), nil
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
		if fresh || !pass.whole {
			return t.run.result(pass.whole), nil
		}
	}
	return t.run.result(true), nil
}
