package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/wal"
)

// recoverWait is how long Open waits for others to let it put the log right.
const recoverWait = 10 * time.Second

// A Recovery says what was put right after a power cut, or after a process was killed in the middle of an append.
type Recovery struct {
	Events   int           // that were taken from the write-ahead log and stored again
	From, To plumbing.Hash // the head before, zero if it could not be read, and after
}

func (r Recovery) String() string {
	from := "could not be read"
	if !r.From.IsZero() {
		from = "was " + r.From.String()
	}
	return fmt.Sprintf("%d events were stored again from the write-ahead log; the head %s and is %s", r.Events, from, r.To)
}

// Recovered is what Open has put right. It is not ok if there was no need.
func (l *Log) Recovered() (r Recovery, ok bool) { return l.recovered, l.recovered.Events > 0 }

// openStore opens a repository also if a power cut has spoiled its branch: the write-ahead log may know what it was.
func openStore(fsys disk.FS, dir string) (*gitstore.Store, error) {
	s, err := gitstore.Open(fsys, dir)
	if _, garbled := errors.AsType[*gitstore.GarbledRefError](err); garbled {
		return gitstore.OpenDamaged(fsys, dir)
	}
	return s, err
}

// recover puts the log right if it is not where its write-ahead log leads.
func (l *Log) recover(fsys disk.FS) error {
	needed, err := l.needsRecovery(fsys)
	if err != nil || !needed {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), recoverWait)
	defer cancel()
	settling, err := l.lockSettling(ctx)
	if err != nil {
		return err
	}
	err = l.locked(ctx, func() (err error) {
		head, err := l.branch()
		if err == nil && !l.journal.leadsTo(head) { // it was no append that is under way
			l.recovered, err = l.reconcile()
		}
		return err
	})
	if err := errors.Join(err, settling.Unlock()); err != nil {
		return fmt.Errorf("recover what was appended last: %w", err)
	}
	return nil
}

// needsRecovery looks without a lock, so it may be wrong about an append that is under way, and writes nothing.
func (l *Log) needsRecovery(fsys disk.FS) (needed bool, err error) {
	j, err := newJournal(fsys, l.store.Dir(), wal.OpenToRead)
	if err != nil {
		return false, err
	}
	j.boot = l.journal.boot
	defer func() { err = errors.Join(err, j.close()) }()
	for i := range j.segments {
		err := j.segments[i].look()
		if _, damaged := errors.AsType[*wal.DamagedError](err); damaged {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	if len(j.inOrder()) == 0 {
		return false, nil
	}
	head, err := l.branch()
	return err == nil && !j.leadsTo(head), err
}

// look is refresh for somebody who must not change anything.
func (s *segment) look() error {
	_, err := s.reopen()
	if err == nil && s.file != nil {
		err = s.catchUp(true)
	}
	return err
}

// branch is the head as it stands, zero if it is missing or garbled.
func (l *Log) branch() (plumbing.Hash, error) {
	h, err := l.store.Head()
	if bad, ok := errors.AsType[*gitstore.GarbledRefError](err); ok && bad.Name == event.MainRef {
		return plumbing.ZeroHash, nil
	}
	if err == nil && h.Ref != event.MainRef {
		err = fmt.Errorf("%w in %s: it is on %s instead of %s", gitstore.ErrDetached, l.store.Dir(), h.Ref, event.MainRef)
	}
	return h.Commit, err
}

// reconcile settles all of the write-ahead log, and sees to it that the branch has all of its events, wherever it is. The
// caller holds both locks.
func (l *Log) reconcile() (Recovery, error) {
	base, records, err := l.journal.read()
	if err != nil || len(records) == 0 {
		return Recovery{}, err
	}
	from, err := l.branch()
	if err != nil {
		return Recovery{}, err
	}
	to, made, err := l.makeAgain(base, from, records)
	if err != nil {
		return Recovery{}, err
	}
	if err := l.point(from, to); err != nil {
		return Recovery{}, err
	}
	if err := l.removeLate(records, made...); err != nil {
		return Recovery{}, err
	}
	return Recovery{Events: countEvents(records), From: from, To: to}, l.journal.end()
}

// makeAgain stores the commits of records, and says where a branch that is at from should be: where the records lead, unless
// somebody else has moved it meanwhile; then the events that it lacks are put on top of it.
func (l *Log) makeAgain(base, from plumbing.Hash, records []record) (to plumbing.Hash, made []*folder, err error) {
	f, err := l.fold(base, records)
	if isLost(err) && !from.IsZero() {
		// The base was another program's, which does not wait for the disk.
		f, err = l.foldOnto(from, records)
	}
	if err != nil {
		return to, nil, err
	}
	if from.IsZero() || from == base || isAmong(from, records) {
		return f.tip(), []*folder{f}, nil
	}
	all, err := l.holdsAll(from, records)
	if isLost(err) {
		return f.tip(), []*folder{f}, nil
	}
	if err != nil || all {
		return from, []*folder{f}, err
	}
	g, err := l.foldOnto(from, records)
	if err != nil {
		return to, nil, err
	}
	return g.tip(), []*folder{f, g}, nil
}

func isAmong(commit plumbing.Hash, records []record) bool {
	return slices.ContainsFunc(records, func(r record) bool {
		return slices.ContainsFunc(r.events, func(e recorded) bool { return e.commit == commit })
	})
}

// isLost tells an object that is missing or spoiled from one that cannot be read at this moment.
func isLost(err error) bool {
	_, corrupt := errors.AsType[*gitstore.CorruptError](err)
	return corrupt || errors.Is(err, plumbing.ErrObjectNotFound)
}

// point moves the branch durably.
func (l *Log) point(from, to plumbing.Hash) error {
	switch from {
	case to:
		return l.store.SettleRef(event.MainRef)
	case plumbing.ZeroHash:
		return l.store.RestoreRef(event.MainRef, to)
	}
	return l.store.UpdateRef(event.MainRef, from, to)
}

func countEvents(records []record) (n int) {
	for _, r := range records {
		n += len(r.events)
	}
	return n
}
