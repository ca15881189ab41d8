package eventlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/history"
	"cairn/sync/purge"
)

// purges remembers what an epoch says was purged.
type purges struct {
	mu      sync.Mutex
	epoch   plumbing.Hash
	records []purge.Record
	set     *purge.Set
}

// EpochCommit is the commit that EpochRef leads to; zero if nothing was ever
// purged.
func (l *Log) EpochCommit() (plumbing.Hash, error) {
	h, err := l.store.Ref(EpochRef)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	return h, err
}

// Purges are the records of what was purged from the space, oldest first.
// Errors: *purge.RecordError, and the store's.
func (l *Log) Purges() ([]purge.Record, error) {
	records, _, err := l.purged()
	return records, err
}

// Purged is what was purged from the space. Errors as for Purges.
func (l *Log) Purged() (*purge.Set, error) {
	_, set, err := l.purged()
	return set, err
}

func (l *Log) purged() ([]purge.Record, *purge.Set, error) {
	epoch, err := l.EpochCommit()
	if err != nil {
		return nil, nil, err
	}
	p := &l.purges
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoch != epoch {
		records, err := purge.Records(l.store, l.Space().ID, epoch)
		if err != nil {
			return nil, nil, err
		}
		p.epoch, p.records, p.set = epoch, records, purge.NewSet(records)
	}
	return p.records, p.set, nil
}

// PurgedFrom is what was purged from the space that a repository holds, also
// from one too damaged to be opened as a log. Errors as for Log.Purges.
func PurgedFrom(s *gitstore.Store) (*purge.Set, error) {
	epoch, err := s.Ref(EpochRef)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := purge.Records(s, "", epoch)
	if err != nil {
		return nil, err
	}
	return purge.NewSet(records), nil
}

// refusePurged is a *purge.PurgedError for the first event that was purged.
func (l *Log) refusePurged(ids ...event.ID) error {
	gone, err := l.Purged()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(ids, gone.Has); i >= 0 {
		return &purge.PurgedError{Event: ids[i]}
	}
	return nil
}

// Expunged is what Expunge did.
type Expunged struct {
	Objects int      // that stay
	Refs    []string // that led out of the history of main, and are gone
	// Left is how many files are still there because another process reads
	// them, as on Windows. Expunge again later.
	Left int
}

// maxGathers is how often Expunge begins again because somebody joined the
// packs that it had made, or purged once more.
const maxGathers = 3

var errMoved = errors.New("a purge is under way")

// Expunge takes every object off the disk that is not in the history of main or
// in the record of purges, and every ref that leads to one, if somebody has
// noted that this is to be done (gitstore.Store.SetPending) or there is anything
// left of a purged event. It may break off at any point and be called again,
// also by another process. Appends wait only for its last part. Errors: those
// of Head and of the store.
func (l *Log) Expunge(ctx context.Context) (done Expunged, err error) {
	turn, err := l.store.LockPending(ctx)
	if err != nil {
		return Expunged{}, wrapExpunge(err)
	}
	defer func() { err = errors.Join(err, turn.Unlock()) }()
	return l.ExpungeInTurn(ctx)
}

// ExpungeInTurn is Expunge for a caller who holds gitstore.Store.LockPending.
func (l *Log) ExpungeInTurn(ctx context.Context) (done Expunged, err error) {
	needed, err := l.needsExpunge() // still, after others may have done it
	if err != nil || !needed {
		return Expunged{}, wrapExpunge(err)
	}
	for range maxGathers {
		done, err = l.expunge(ctx)
		if !errors.Is(err, gitstore.ErrPackGone) && !errors.Is(err, errMoved) {
			break
		}
	}
	return done, wrapExpunge(err)
}

func wrapExpunge(err error) error {
	if err != nil {
		return fmt.Errorf("take purged events off the disk: %w", err)
	}
	return nil
}

// needsExpunge says whether Expunge has anything to do.
func (l *Log) needsExpunge() (bool, error) {
	pending, err := l.store.IsPending()
	if err != nil || pending {
		return pending, err
	}
	left, err := l.Leftovers()
	return len(left) > 0, err
}

// Leftovers lists the purged events whose file is stored all the same.
func (l *Log) Leftovers() ([]event.ID, error) {
	gone, err := l.Purged()
	if err != nil {
		return nil, err
	}
	return gone.Stored(l.store.Has)
}

// expunge gathers what stays without a lock, and then, while nobody appends,
// what has come meanwhile.
func (l *Log) expunge(ctx context.Context) (Expunged, error) {
	keep := &gathering{log: l, graph: history.New(l.store)}
	if err := keep.more(ctx); err != nil {
		return Expunged{}, err
	}
	var done Expunged
	err := l.alone(ctx, func() (err error) {
		done, err = l.finish(ctx, keep)
		return err
	})
	return done, err
}

// finish is called when the write-ahead log holds nothing that is needed, and
// overwrites what it held.
func (l *Log) finish(ctx context.Context, keep *gathering) (Expunged, error) {
	// Whoever finds the note goes on from here, whatever happens.
	if err := l.store.SetPending(); err != nil {
		return Expunged{}, err
	}
	if err := keep.more(ctx); err != nil {
		return Expunged{}, err
	}
	refs, err := keep.dropOthers()
	if err != nil {
		return Expunged{}, err
	}
	left, err := l.store.RemoveAllBut(keep.packs...)
	done := Expunged{Objects: keep.objects, Refs: refs, Left: left}
	if err = errors.Join(err, l.journal.erase()); err != nil || left > 0 {
		return done, err
	}
	return done, l.store.ClearPending()
}

// A gathering is what stays when everything else is removed.
type gathering struct {
	log     *Log
	graph   *history.Graph
	tips    []plumbing.Hash // up to which all is gathered
	epoch   plumbing.Hash   // when that began
	packs   []string
	objects int
}

// more gathers what the history and the records have now and had not before.
func (g *gathering) more(ctx context.Context) error {
	epoch, err := g.log.EpochCommit()
	if err != nil {
		return err
	}
	head, err := g.log.Head()
	if err != nil {
		return err
	}
	if err := g.log.mustBeRid(head.Tree); err != nil {
		return err
	}
	tips := []plumbing.Hash{head.Commit}
	if g.tips != nil && epoch != g.epoch {
		return errMoved // what was gathered may hold what was purged since
	}
	g.epoch = epoch
	if !epoch.IsZero() {
		tips = append(tips, epoch)
	}
	if err := g.graph.Add(tips...); err != nil {
		return err
	}
	ids, err := history.NewObjects(ctx, g.log.store, g.graph, tips, g.tips)
	if err != nil {
		return err
	}
	pack, err := g.log.store.GatherPack(ctx, ids)
	if err != nil {
		return err
	}
	if pack != "" {
		g.packs = append(g.packs, pack)
	}
	g.tips, g.objects = tips, g.objects+len(ids)
	return nil
}

// mustBeRid is errMoved while the branch has yet to follow the record of the
// purge.
func (l *Log) mustBeRid(tree plumbing.Hash) error {
	gone, err := l.Purged()
	if err != nil {
		return err
	}
	held, err := gone.In(l.store, tree)
	if err == nil && len(held) > 0 {
		err = errMoved
	}
	return err
}

// dropOthers deletes the refs that lead to anything that does not stay.
func (g *gathering) dropOthers() ([]string, error) {
	refs, err := g.log.store.Refs()
	if err != nil {
		return nil, err
	}
	var dropped []string
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name == event.MainRef || name == EpochRef || g.graph.Has(refs[name]) {
			continue
		}
		if err := g.log.store.DeleteRef(name, refs[name]); err != nil {
			return nil, err
		}
		dropped = append(dropped, name)
	}
	return dropped, nil
}
