package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/intake"
	"cairn/sync/purge"
)

// Options say what a replica syncs and how its caller judges.
type Options struct {
	Log    *eventlog.Log
	Remote Remote
	Name   string // of the remote; part of a ref name
	// Admit and Raw judge what arrives, as in intake.Options.
	Admit func(event.Event) []intake.Finding
	Raw   func(plumbing.ObjectType, []byte) []intake.Finding
	// Withhold keeps events out of sight in which Admit or Raw found something,
	// although the remote once took them. It is called before they can be seen:
	// they become part of the log after it, or not at all if it fails.
	Withhold func(context.Context, []Withheld) error
	// Lease is the path of a file in which the machine remembers what it pushed,
	// outside the repository, so that a hub can tell it from a copy of itself;
	// empty for no such memory. LeaseFS is where it lies.
	Lease   string
	LeaseFS disk.FS
	// Park keeps events that the remote refused, durably, before they leave
	// the log.
	Park func(context.Context, []Parked) error
	// Purged is told which events have left the log for good, so that other
	// copies of them go too, and what is kept about them. It is told again until
	// it succeeds, and may be after that.
	Purged func(context.Context, *purge.Set) error
	// Told is told at each exchange what a hub says of itself, before anything
	// else happens; an error ends the exchange. Nil for nobody.
	Told   func(context.Context, hubwire.Told) error
	Limits gitstore.Limits
}

// Parked is an event that a remote refused.
type Parked struct {
	eventlog.Stored
	Rule, Field string
}

// A Replica is one space and one remote. Its methods are safe for concurrent
// use, and one at a time does its work.
type Replica struct {
	opt      Options
	tracking string // ref of the remote's head as last seen
	times    *timekeeper
	lease    *lease // nil for a remote that remembers nothing
	purger   purger // nil for a remote whose purges are not followed

	mu    sync.Mutex     // one sync at a time
	graph *history.Graph // of the log, as of the sync under way
	empty bool           // the remote was, when last asked
}

// New returns a replica; it does nothing yet.
func New(opt Options) *Replica {
	r := &Replica{
		opt:      opt,
		tracking: "refs/remotes/" + opt.Name + "/main",
		times:    newTimekeeper(opt.Remote),
		lease:    newLease(opt),
	}
	r.purger, _ = opt.Remote.(purger)
	return r
}

// Pulled is what a pull brought.
type Pulled struct {
	Events int // that were new on this machine, withheld ones included
}

// Withheld is an event to be kept out of sight.
type Withheld struct {
	Event       event.ID
	Rule, Field string
}

// Pull takes the remote's new events into the log. Errors: those of Remote,
// *TamperedError, *StrangerError, *RewrittenError, *eventlog.ForeignError, and the log's.
func (r *Replica) Pull(ctx context.Context) (Pulled, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.begin()
	var p Pulled
	if err == nil {
		p, err = r.pull(ctx)
	}
	if err != nil {
		return Pulled{}, fmt.Errorf("pull space %s from %s: %w", r.opt.Log.Space().Name, r.opt.Name, err)
	}
	return p, nil
}

// begin looks up the graph for one sync. Called with mu held.
func (r *Replica) begin() (err error) {
	r.graph, err = r.opt.Log.History()
	return err
}

func (r *Replica) pull(ctx context.Context) (_ Pulled, err error) {
	before, err := r.opt.Log.Head()
	if err != nil {
		return Pulled{}, err
	}
	a, err := r.fetch(ctx)
	defer func() { err = errors.Join(err, a.discard()) }()
	if err != nil {
		return Pulled{}, err
	}
	if r.empty = a.head.IsZero(); r.empty {
		return Pulled{}, nil
	}
	after, err := r.accept(ctx, a)
	if err != nil {
		return Pulled{}, err
	}
	if a.purges() { // the tree before is gone
		return Pulled{Events: a.fresh}, nil
	}
	fresh, err := r.opt.Log.AddedIDs(ctx, before.Tree, after.Tree)
	return Pulled{Events: len(fresh)}, err
}

// Has says whether the machine has a commit of the remote's.
func (r *Replica) Has(h plumbing.Hash) (bool, error) { return r.opt.Log.Store().Has(h) }

// An arrival is what a fetch has brought, and no ref leads to yet.
type arrival struct {
	head  plumbing.Hash
	epoch plumbing.Hash        // the remote's, or the log's if purges are not followed
	known plumbing.Hash        // the log's epoch, when the fetch began
	q     *gitstore.Quarantine // nil if there was nothing to bring
	// What accept finds out:
	records []purge.Record
	gone    *purge.Set // that must not be in it
	fresh   int        // events that are new here, when a purge was followed
}

// purges says whether something was purged that the log has to follow.
func (a *arrival) purges() bool { return a.epoch != a.known }

func (a *arrival) discard() error {
	if a.q == nil {
		return nil
	}
	return a.q.Discard()
}

// fetch brings the remote's history as far as the quarantine. The caller
// discards the arrival, whatever the error is.
func (r *Replica) fetch(ctx context.Context) (a *arrival, err error) {
	a = &arrival{}
	store := r.opt.Log.Store()
	if a.known, err = r.opt.Log.EpochCommit(); err != nil {
		return a, err
	}
	a.epoch = a.known
	tracked, err := r.tracked()
	if err != nil {
		return a, err
	}
	haves, err := r.haves(tracked)
	if err != nil {
		return a, err
	}
	want := Want{
		Met:   !tracked.IsZero(),
		Has:   store.Has,
		Haves: haves,
		Told:  r.opt.Told,
		Receive: func(ctx context.Context, pack io.Reader) error {
			if a.q, err = store.Quarantine(); err != nil {
				return err
			}
			return a.q.Receive(ctx, pack, r.opt.Limits)
		},
	}
	if r.purger != nil {
		want.Epoch = func(epoch plumbing.Hash) (bool, error) {
			a.epoch = epoch
			if epoch.IsZero() {
				return false, nil
			}
			has, err := store.Has(epoch)
			return !has, err
		}
	}
	a.head, err = r.opt.Remote.Fetch(ctx, want)
	return a, err
}

// accept makes what arrived part of the log if it is to be followed. Nobody
// else takes objects off the disk meanwhile to which no ref leads yet.
func (r *Replica) accept(ctx context.Context, a *arrival) (h eventlog.Head, err error) {
	turn, err := r.opt.Log.Store().LockPending(ctx)
	if err != nil {
		return eventlog.Head{}, err
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	now, err := r.opt.Log.EpochCommit()
	if err != nil {
		return eventlog.Head{}, err
	}
	if now != a.known {
		return eventlog.Head{}, errMoved
	}
	if err := r.readRecords(a); err != nil {
		return eventlog.Head{}, err
	}
	if a.q != nil {
		if err := r.receive(ctx, a); err != nil {
			return eventlog.Head{}, err
		}
	}
	if a.purges() {
		return r.follow(ctx, a)
	}
	if err := r.unbroken(r.graph, a.head); err != nil {
		return eventlog.Head{}, err
	}
	// The head is remembered last: whatever breaks off before is done again.
	if h, err = r.take(ctx, a.head); err != nil {
		return eventlog.Head{}, err
	}
	return h, r.track(a.head)
}

// receive takes what arrived into the repository if it is to be followed. What
// must not be seen is withheld here and not when it is merged: once it is
// stored it is not looked at again.
func (r *Replica) receive(ctx context.Context, a *arrival) error {
	withheld, err := r.admit(ctx, a)
	if err != nil {
		return err
	}
	if !a.purges() {
		if err := r.unbroken(r.graph.Fork(a.q), a.head); err != nil {
			return err
		}
	}
	if withheld, err = r.strange(withheld); err != nil {
		return err
	}
	if len(withheld) > 0 {
		if err := r.opt.Withhold(ctx, withheld); err != nil {
			return fmt.Errorf("withhold events: %w", err)
		}
	}
	return a.q.Publish()
}

// strange are those that the log does not hold. What it holds stays in sight,
// whatever a remote says under the same id.
func (r *Replica) strange(list []Withheld) ([]Withheld, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return nil, err
	}
	var out []Withheld
	for _, w := range list {
		_, err := r.opt.Log.Event(head.Tree, w.Event)
		_, damaged := errors.AsType[*eventlog.CorruptError](err)
		if errors.Is(err, eventlog.ErrNotFound) {
			out = append(out, w)
		} else if err != nil && !damaged {
			return nil, err
		}
	}
	return out, nil
}

// admit checks everything that arrived, and lists what must not be seen.
func (r *Replica) admit(ctx context.Context, a *arrival) ([]Withheld, error) {
	space, err := r.spaceOf(a.q, a.head)
	if err != nil {
		return nil, err
	}
	report, err := intake.Check(ctx, a.q, []plumbing.Hash{a.head}, intake.Options{
		Space: space, Admit: r.opt.Admit, Raw: r.opt.Raw,
		Known: r.opt.Log.Store().Has, KeepNewer: true,
		Purged: a.gone, Records: objectsOf(a.records),
	})
	if err != nil {
		return nil, err
	}
	var withheld []Withheld
	var bad []intake.Finding
	var purged, strange []event.ID
	for _, f := range report.Findings {
		switch {
		case f.Rule == RuleStranger && f.Event != "":
			strange = append(strange, f.Event)
		case f.Rule == intake.RulePurged:
			purged = append(purged, f.Event)
		case f.Content && f.Event != "":
			withheld = append(withheld, Withheld{f.Event, f.Rule, f.Field})
		default:
			bad = append(bad, f)
		}
	}
	if len(purged) > 0 {
		return nil, &PurgedError{Events: purged}
	}
	if len(bad) > 0 {
		return nil, &TamperedError{Findings: bad}
	}
	if len(strange) > 0 {
		return nil, &StrangerError{Events: strange}
	}
	return withheld, nil
}

// spaceOf is the identity that the remote's history has: the log's own, or
// any of the same name if the log may still adopt one.
func (r *Replica) spaceOf(in gitstore.Reader, head plumbing.Hash) (commitform.Space, error) {
	own := r.opt.Log.Space()
	c, err := history.ReadCommit(in, head)
	if err != nil {
		return own, err
	}
	space, err := eventlog.SpaceAt(in, c.Tree)
	if err != nil || space == own {
		return space, err
	}
	synced, err := r.everSynced()
	if err != nil {
		return own, err
	}
	if synced || space.Name != own.Name {
		return own, &eventlog.ForeignError{Have: space, Want: own}
	}
	return space, nil
}

// everSynced says whether the log has ever met a remote.
func (r *Replica) everSynced() (bool, error) {
	refs, err := r.opt.Log.Store().Refs()
	if err != nil {
		return false, err
	}
	for name := range refs {
		if name != event.MainRef {
			return true, nil
		}
	}
	return false, nil
}

// haves are commits that the remote may have too, newest first.
func (r *Replica) haves(tracked plumbing.Hash) ([]plumbing.Hash, error) {
	head, err := r.opt.Log.Head()
	if err != nil {
		return nil, err
	}
	tips := []plumbing.Hash{head.Commit}
	if !tracked.IsZero() {
		tips = []plumbing.Hash{tracked, head.Commit}
	}
	if err := r.graph.Add(tips...); err != nil {
		return nil, err
	}
	return r.graph.Sample(tips, maxHaves), nil
}

const maxHaves = 64

// tracked is the remote's head as last seen; zero before the first exchange.
func (r *Replica) tracked() (plumbing.Hash, error) {
	h, err := r.opt.Log.Store().Ref(r.tracking)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	return h, err
}

// track remembers head as the remote's.
func (r *Replica) track(head plumbing.Hash) error {
	old, err := r.tracked()
	if err != nil || old == head {
		return err
	}
	return r.opt.Log.Store().UpdateRef(r.tracking, old, head)
}

// Forget takes back all that is known of the remote, when it is to be synced no
// more: one that is added under the same name later is another one.
func (r *Replica) Forget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, err := r.tracked()
	if err != nil || old.IsZero() {
		return err
	}
	return r.opt.Log.Store().DeleteRef(r.tracking, old)
}

// unbroken checks that head's history, which graph can read, holds what the
// remote had before.
func (r *Replica) unbroken(graph *history.Graph, head plumbing.Hash) error {
	old, err := r.tracked()
	if err != nil {
		return err
	}
	if err := graph.Add(head); err != nil || old.IsZero() {
		return err
	}
	kept, err := graph.Ancestor(old, head)
	if err == nil && !kept {
		err = &RewrittenError{Had: old, Has: head}
	}
	return err
}
