package eventlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/gitstore"
)

// Settle makes what was appended until now durable in the repository itself and takes it out of the write-ahead log. Appends
// go on meanwhile. It does nothing if there is nothing to do, and may be called again after an error: until it succeeds the
// write-ahead log keeps what it has.
func (l *Log) Settle(ctx context.Context) (err error) {
	lock, err := l.lockSettling(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return l.settle(ctx)
}

// lockSettling takes the lock of those who settle, which comes before the append lock.
func (l *Log) lockSettling(ctx context.Context) (*disk.FileLock, error) {
	lock, err := disk.Lock(ctx, filepath.Join(l.store.Dir(), "settle.lock"))
	if err != nil {
		return nil, fmt.Errorf("wait for the write-ahead log to be settled: %w", err)
	}
	return lock, nil
}

// alone runs fn under both locks, when the write-ahead log holds nothing.
func (l *Log) alone(ctx context.Context, fn func() error) (err error) {
	settling, err := l.lockSettling(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, settling.Unlock()) }()
	// This leaves little to do while appends have to wait.
	if err := l.settle(ctx); err != nil {
		return err
	}
	return l.locked(ctx, func() error {
		if _, err := l.reconcile(); err != nil {
			return err
		}
		return fn()
	})
}

// locked runs fn under the append lock, when the journal is up to date.
func (l *Log) locked(ctx context.Context, fn func() error) (err error) {
	lock, err := l.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return gitstore.ErrClosed
	}
	if err := l.journal.refresh(); err != nil {
		return err
	}
	return fn()
}

// A part is what is settled at once: a segment that nothing is appended to.
type part struct {
	segment *segment
	base    plumbing.Hash
	records []record
}

// settle is Settle. The caller holds the settling lock, so that nobody else ends a segment.
func (l *Log) settle(ctx context.Context) error {
	for more := true; more; {
		var p part
		err := l.locked(ctx, func() (err error) {
			p, more, err = l.detach()
			return err
		})
		if err == nil && p.segment != nil {
			err = l.settlePart(ctx, p)
		}
		if err != nil {
			return fmt.Errorf("settle the write-ahead log: %w", err)
		}
	}
	return nil
}

// detach returns the oldest part, after it has seen to it that appends go elsewhere, and whether there is another one. If
// the log is not as it should be, it is put right on the spot.
func (l *Log) detach() (p part, more bool, err error) {
	used := l.journal.inOrder()
	if len(used) == 0 {
		return part{}, false, nil
	}
	head, err := l.branch()
	if err == nil && !l.journal.leadsTo(head) {
		_, err = l.reconcile()
		return part{}, false, err
	}
	if err == nil && used[0] == l.journal.newest() {
		_, err = l.journal.turn(used[0])
	}
	if err != nil {
		return part{}, false, err
	}
	p = part{segment: used[0], base: used[0].mark.base}
	p.records, err = p.segment.records()
	return p, len(used) > 1, err
}

// settlePart makes everything durable before the segment is emptied: objects, then the branch, then the removal of packs
// that may be torn.
func (l *Log) settlePart(ctx context.Context, p part) error {
	f, err := l.fold(p.base, p.records)
	if err != nil {
		return err
	}
	if err := l.store.SettleRef(event.MainRef); err != nil {
		return err
	}
	if err := l.removeLate(p.records, f); err != nil {
		return err
	}
	return l.locked(ctx, p.segment.end)
}

// removeLate removes the packs that were written without waiting, except those that were just written again.
func (l *Log) removeLate(records []record, made ...*folder) error {
	var late []plumbing.Hash
	for _, r := range records {
		again := false
		for _, f := range made {
			again = again || f.packs[r.pack]
		}
		if !again {
			late = append(late, r.pack)
		}
	}
	return l.store.RemovePacks(late...)
}
