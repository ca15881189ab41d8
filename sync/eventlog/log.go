package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/gitstore"
	"cairn/sync/gittree"
	"cairn/sync/history"
	"cairn/sync/wal"
)

// EpochRef points at the commit that records the newest purge (package purge),
// if there ever was one.
const EpochRef = "refs/cairn/epoch"

// A Log is the log of one space. It is safe for concurrent use.
type Log struct {
	store      *gitstore.Store
	space      atomic.Pointer[commitform.Space]
	durability Durability
	backlog    func()
	recovered  Recovery
	order      order
	purges     purges

	mu      sync.Mutex // guards what follows; taken after the append lock
	journal *journal
	closed  bool
}

// A Head is the end of the log's history.
type Head struct {
	Ref    string // full name of the branch
	Commit plumbing.Hash
	Tree   plumbing.Hash
}

// Create makes the repository of a space at dir, whose parent must exist, and
// opens it. It appears whole or not at all. If dir exists it is opened as it
// is, and must be the same space.
func Create(fsys disk.FS, dir string, space commitform.Space, options ...Option) (*Log, error) {
	if _, err := fsys.Lstat(dir); err == nil {
		return openAs(fsys, dir, space, options)
	}
	tmp := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"."+string(event.NewID(space.ID.Time()))+".tmp")
	if err := build(fsys, tmp, space); err != nil {
		return nil, errors.Join(fmt.Errorf("create space %s: %w", space.Name, err), fsys.RemoveAll(tmp))
	}
	if err := fsys.Rename(tmp, dir); err != nil {
		// Somebody else was quicker, or the folder cannot be written.
		if rm := fsys.RemoveAll(tmp); rm != nil {
			return nil, fmt.Errorf("create space %s: %w", space.Name, rm)
		}
		if _, stat := fsys.Lstat(dir); stat != nil {
			return nil, fmt.Errorf("create space %s: %w", space.Name, err)
		}
		return openAs(fsys, dir, space, options)
	}
	if err := fsys.SyncDir(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("create space %s: %w", space.Name, err)
	}
	return openAs(fsys, dir, space, options)
}

func build(fsys disk.FS, dir string, space commitform.Space) error {
	if err := gitstore.Init(fsys, dir); err != nil {
		return err
	}
	s, err := gitstore.Open(fsys, dir)
	if err != nil {
		return err
	}
	commit, objects, err := rootObjects(s, space)
	if err == nil {
		_, err = s.WritePack(objects)
	}
	if err == nil {
		err = s.UpdateRef(event.MainRef, plumbing.ZeroHash, commit)
	}
	return errors.Join(err, s.Close())
}

func rootObjects(r gittree.Reader, space commitform.Space) (plumbing.Hash, []gitstore.Object, error) {
	blob := gitstore.NewObject(plumbing.BlobObject, commitform.EncodeSpace(space))
	tree, made, err := gittree.Insert(r, plumbing.ZeroHash, commitform.SpaceFile, blob.Hash)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	commit := gitstore.NewObject(plumbing.CommitObject, commitform.Root(tree, space.ID))
	return commit.Hash, append(made, blob, commit), nil
}

func openAs(fsys disk.FS, dir string, space commitform.Space, options []Option) (*Log, error) {
	l, err := Open(fsys, dir, space.Name, options...)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Open opens the log at dir, which must be of the space called name. If a
// power cut has taken a part of what was appended last, or a process was
// killed in the middle of an append, Open puts that right first: see Recovered.
// The caller closes the Log. Errors: those of gitstore.Open and
// gitstore.Store.Head, ErrUnborn, *IncompleteError, commitform.ErrForeign,
// *commitform.NewerFormatError, *ForeignError, *JournalError, *wal.NewerError.
func Open(fsys disk.FS, dir, name string, options ...Option) (*Log, error) {
	s, err := openStore(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("open space %s: %w", name, err)
	}
	l := &Log{store: s}
	l.space.Store(&commitform.Space{Name: name})
	if err := l.prepare(fsys, options); err != nil {
		return nil, errors.Join(fmt.Errorf("open space %s: %w", name, err), l.Close())
	}
	return l, nil
}

func (l *Log) prepare(fsys disk.FS, options []Option) (err error) {
	if l.journal, err = newJournal(fsys, l.store.Dir(), wal.Open); err != nil {
		return err
	}
	for _, o := range options {
		o(l)
	}
	if err := l.recover(fsys); err != nil {
		return err
	}
	return l.Identify()
}

// Identify reads the log's identity again after its history was put on that
// of a remote. The name must stay the same. Errors as for Open.
func (l *Log) Identify() error {
	head, err := l.Head()
	if err != nil {
		return err
	}
	space, err := SpaceAt(l.store, head.Tree)
	if err != nil {
		return incomplete(err)
	}
	if want := l.Space(); space.Name != want.Name {
		return &ForeignError{Have: space, Want: want}
	}
	l.space.Store(&space)
	return nil
}

// SpaceAt is the identity written in tree. Errors: commitform.ErrForeign,
// *commitform.NewerFormatError, or the reader's.
func SpaceAt(r gittree.Reader, tree plumbing.Hash) (commitform.Space, error) {
	entry, err := gittree.Lookup(r, tree, commitform.SpaceFile)
	if errors.Is(err, gittree.ErrNotFound) {
		return commitform.Space{}, commitform.ErrForeign
	}
	if _, malformed := errors.AsType[*gittree.MalformedError](err); malformed {
		return commitform.Space{}, commitform.ErrForeign
	}
	if err != nil {
		return commitform.Space{}, err
	}
	blob, err := r.Object(entry.Hash)
	if err != nil {
		return commitform.Space{}, err
	}
	return commitform.DecodeSpace(blob.Data)
}

// Close releases the log's files. What is in the write-ahead log stays there, and is safe: call Settle first if other
// programs are to find a repository that needs no recovery after a power cut.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var err error
	if l.journal != nil {
		err = l.journal.close()
	}
	return errors.Join(err, l.store.Close())
}

// Space is the identity of the log.
func (l *Log) Space() commitform.Space { return *l.space.Load() }

// Store is the repository, for packages that move objects between machines.
func (l *Log) Store() *gitstore.Store { return l.store }

// Head is the end of the history now, read afresh at each call. Errors: those
// of gitstore.Store.Head, ErrUnborn, *IncompleteError.
func (l *Log) Head() (Head, error) {
	h, err := l.store.Head()
	if err != nil {
		return Head{}, err
	}
	if h.Ref != event.MainRef {
		return Head{}, fmt.Errorf("%w in %s: it is on %s instead of %s", gitstore.ErrDetached, l.store.Dir(), h.Ref, event.MainRef)
	}
	if h.Commit.IsZero() {
		return Head{}, ErrUnborn
	}
	c, err := history.ReadCommit(l.store, h.Commit)
	if err != nil {
		return Head{}, fmt.Errorf("read the head: %w", incomplete(err))
	}
	return Head{Ref: h.Ref, Commit: h.Commit, Tree: c.Tree}, nil
}

// Epoch is an opaque number that changes whenever the history was rewritten;
// 0 if it never was.
func (l *Log) Epoch() (uint64, error) {
	h, err := l.EpochCommit()
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(h[:8]), nil
}

// HasCommit says whether h is stored, as any object.
func (l *Log) HasCommit(h plumbing.Hash) (bool, error) { return l.store.Has(h) }

// Exists says whether there is anything at dir that could be a log.
func Exists(fsys disk.FS, dir string) (bool, error) {
	_, err := fsys.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
