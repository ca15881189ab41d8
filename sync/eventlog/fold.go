package eventlog

import (
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
)

// foldBytes is how many bytes of objects are held in memory before they become a pack.
const foldBytes = 16 << 20

// A folder makes the commits of records again and stores them durably, whatever became of those that were written without
// waiting.
type folder struct {
	store *gitstore.Store
	chain *chain
	bytes int
	packs map[plumbing.Hash]bool // that were written
}

func (l *Log) newFolder(base plumbing.Hash) (*folder, error) {
	head, err := l.headAt(event.MainRef, base)
	if err != nil {
		return nil, fmt.Errorf("read the head that the write-ahead log begins at: %w", err)
	}
	return &folder{store: l.store, chain: newChain(l.store, head), packs: map[plumbing.Hash]bool{}}, nil
}

// fold puts records on top of base, and must arrive where they say.
func (l *Log) fold(base plumbing.Hash, records []record) (*folder, error) {
	f, err := l.newFolder(base)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		for _, e := range r.events {
			if err := f.add(e); err != nil {
				return nil, err
			}
			if f.tip() != e.commit {
				return nil, &JournalError{Path: l.journal.segments[0].path, Err: errCommits}
			}
		}
	}
	return f, f.flush()
}

// foldOnto puts what base's tree lacks of records on top of base.
func (l *Log) foldOnto(base plumbing.Hash, records []record) (*folder, error) {
	f, err := l.newFolder(base)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		for _, e := range r.events {
			there, err := l.holds(f.chain.over, f.chain.head.Tree, e)
			if err == nil && !there {
				err = f.add(e)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return f, f.flush()
}

func (f *folder) tip() plumbing.Hash { return f.chain.head.Commit }

func (f *folder) add(r recorded) error {
	e, err := event.Decode(r.bytes)
	if err != nil {
		return fmt.Errorf("read an event of the write-ahead log: %w", err)
	}
	n := len(f.chain.objects)
	if err := f.chain.addFile(e, e.ID, commitform.HeadOf(e), r.bytes); err != nil {
		return err
	}
	for _, o := range f.chain.objects[n:] {
		f.bytes += len(o.Data)
	}
	if f.bytes < foldBytes {
		return nil
	}
	return f.flush()
}

func (f *folder) flush() error {
	if len(f.chain.objects) == 0 {
		return nil
	}
	id, err := f.store.RewritePack(f.chain.objects)
	if err != nil {
		return err
	}
	f.packs[id] = true
	f.chain, f.bytes = newChain(f.store, f.chain.head), 0
	return nil
}

// holds reports whether tree has the event as it was recorded.
func (l *Log) holds(r gittree.Reader, tree plumbing.Hash, e recorded) (bool, error) {
	decoded, err := event.Decode(e.bytes)
	if err != nil {
		return false, fmt.Errorf("read an event of the write-ahead log: %w", err)
	}
	entry, err := gittree.Lookup(r, tree, commitform.Path(decoded.ID))
	if errors.Is(err, gittree.ErrNotFound) {
		return false, nil
	}
	return err == nil && entry.Hash == plumbing.ComputeHash(plumbing.BlobObject, e.bytes), err
}

// holdsAll reports whether the history that ends at commit has all events of records.
func (l *Log) holdsAll(commit plumbing.Hash, records []record) (bool, error) {
	head, err := l.headAt(event.MainRef, commit)
	if err != nil {
		return false, err
	}
	for _, r := range records {
		for _, e := range r.events {
			if there, err := l.holds(l.store, head.Tree, e); err != nil || !there {
				return false, err
			}
		}
	}
	return true, nil
}
