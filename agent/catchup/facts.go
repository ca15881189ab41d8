package catchup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/agent/projection"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/sync/eventlog"
)

// factsAtOnce is how many facts are added in one go, between which others may
// read.
const factsAtOnce = 4096

// facts are the facts of one space: in memory, and in a file if this process
// is the one that may write it.
type facts struct {
	fsys    disk.FS
	path    string
	trouble func(error)

	leveling sync.Mutex // one at a time brings them level; taken before mu
	file     *projection.File
	lock     *disk.FileLock
	tried    time.Time // to get the lock

	mu      sync.RWMutex // guards what follows; held for writing only for moments
	set     *projection.Set
	mark    projection.Mark
	damaged []*eventlog.CorruptError // what was set aside on the way to the mark
}

func openFacts(fsys disk.FS, path string, trouble func(error)) (*facts, error) {
	f := &facts{fsys: fsys, path: path, trouble: trouble, set: projection.NewSet()}
	if err := f.own(); err != nil {
		return nil, err
	}
	if f.file != nil {
		return f, nil
	}
	set, mark, err := projection.Load(fsys, path)
	if err != nil {
		return nil, err
	}
	f.set, f.mark = set, mark
	return f, nil
}

// retryLock is how long to leave a lock alone that somebody else holds.
const retryLock = time.Second

// own tries to become the one who writes the file, and begins again with what
// the file holds.
func (f *facts) own() error {
	if f.file != nil || time.Since(f.tried) < retryLock {
		return nil
	}
	f.tried = time.Now()
	lock, err := disk.TryLock(f.path + ".lock")
	if _, taken := errors.AsType[*disk.LockedError](err); taken {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock the facts of a space: %w", err)
	}
	file, set, mark, err := projection.OpenFile(f.fsys, f.path)
	if err != nil {
		return errors.Join(err, lock.Unlock())
	}
	f.lock, f.file = lock, file
	f.replace(set, mark)
	return nil
}

func (f *facts) replace(set *projection.Set, mark projection.Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set, f.mark, f.damaged = set, mark, nil
}

// forget makes the next step read everything again.
func (f *facts) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mark = projection.Mark{}
}

// aside is what was set aside because its bytes are no event.
func (f *facts) aside() []*eventlog.CorruptError {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.damaged)
}

func (f *facts) at() projection.Mark {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.mark
}

// read calls fn with the facts and returns the mark that held meanwhile.
func (f *facts) read(fn func(*projection.Set)) projection.Mark {
	f.mu.RLock()
	defer f.mu.RUnlock()
	fn(f.set)
	return f.mark
}

func (f *facts) close() error {
	f.leveling.Lock()
	defer f.leveling.Unlock()
	return f.disown()
}

func (f *facts) disown() error {
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.file.Close(), f.lock.Unlock())
	f.file = nil
	return err
}

// save writes to the file. When that fails the file is let go, for it would
// lack what comes now; the facts in memory are right all the same.
func (f *facts) save(write func(*projection.File) error) {
	if f.file == nil {
		return
	}
	if err := write(f.file); err != nil {
		f.trouble(errors.Join(err, f.disown()))
		f.tried = time.Now()
	}
}

// added is how the events between two trees are read.
type added func(ctx context.Context, from, to plumbing.Hash, fn func(eventlog.Stored) error) error

// level brings the facts to where the log is. It looks there itself: a look
// from before the lock may be older than the facts, and would take back what
// was saved since.
func (f *facts) level(ctx context.Context, log Log, read added) error {
	f.leveling.Lock()
	defer f.leveling.Unlock()
	if err := f.own(); err != nil {
		return err
	}
	to, err := target(log)
	if err != nil {
		return err
	}
	from := f.at()
	w, err := wayTo(log, from, to)
	if err != nil {
		return err
	}
	switch w {
	case nothing:
		return nil
	case difference:
		err := f.difference(ctx, log, from, to, read)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return err
		}
		// Parts of the former history are gone: as if all of it was.
	}
	return f.rebuild(ctx, to, read)
}

// extend adds what was appended after the commit base, if the facts are there.
func (f *facts) extend(base, commit, tree plumbing.Hash, list []projection.Fact) error {
	f.leveling.Lock()
	defer f.leveling.Unlock()
	if err := f.own(); err != nil {
		return err
	}
	// Of a new epoch the next look finds out.
	if at := f.at(); at.Commit == base {
		f.add(projection.Mark{Epoch: at.Epoch, Commit: commit, Tree: tree}, list)
	}
	return nil
}

func (f *facts) difference(ctx context.Context, log Log, from, to projection.Mark, read added) error {
	gone, err := removed(ctx, log, from.Tree, to.Tree)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		f.remove(gone)
	}
	return f.take(ctx, from, to, read)
}

// remove takes events out of the set and writes the file anew, without a mark
// until the rest of the difference is in it.
func (f *facts) remove(gone []event.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set.Remove(gone...)
	f.save(func(file *projection.File) error {
		if err := file.Reset(); err != nil {
			return err
		}
		return file.Append(projection.Mark{}, f.set.Facts()...)
	})
}

// rebuild reads everything. Where there is nothing yet, events show as they
// come; otherwise what is there holds until the rest has been read, for a
// damaged history may not let us.
func (f *facts) rebuild(ctx context.Context, to projection.Mark, read added) error {
	if f.isEmpty() {
		f.save((*projection.File).Reset)
		f.replace(projection.NewSet(), projection.Mark{})
		return f.take(ctx, projection.Mark{}, to, read)
	}
	var all []projection.Fact
	bad, err := collect(ctx, projection.Mark{}, to, read, func(fact projection.Fact) { all = append(all, fact) })
	if err != nil {
		return err
	}
	set := projection.NewSet()
	set.Add(all...)
	f.save((*projection.File).Reset)
	f.tell(bad)
	f.mu.Lock() // all at once, or what was known would be unknown for a moment
	defer f.mu.Unlock()
	f.set, f.damaged = set, bad
	f.enter(to, all)
	return nil
}

func (f *facts) isEmpty() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.set.Count() == 0
}

// take adds the events between two trees, and the mark when it has them all.
func (f *facts) take(ctx context.Context, from, to projection.Mark, read added) error {
	var room []projection.Fact
	bad, err := collect(ctx, from, to, read, func(fact projection.Fact) {
		room = append(room, fact)
		if len(room) == factsAtOnce {
			f.add(f.at(), room)
			room = room[:0]
		}
	})
	if err != nil {
		return err
	}
	f.setAside(bad)
	f.add(to, room)
	return nil
}

// collect calls add with the facts of the events between two trees, and
// returns the events that are damaged.
func collect(ctx context.Context, from, to projection.Mark, read added, add func(projection.Fact)) ([]*eventlog.CorruptError, error) {
	var bad []*eventlog.CorruptError
	err := read(ctx, from.Tree, to.Tree, func(s eventlog.Stored) error {
		if c := s.Corrupt(); c != nil {
			bad = append(bad, c)
		} else {
			add(factOf(s))
		}
		return nil
	})
	return bad, err
}

// setAside keeps in mind which events there are no facts of.
func (f *facts) setAside(bad []*eventlog.CorruptError) {
	f.tell(bad)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.damaged = append(f.damaged, bad...)
}

func (f *facts) tell(bad []*eventlog.CorruptError) {
	for _, c := range bad {
		f.trouble(c)
	}
}

func factOf(s eventlog.Stored) projection.Fact {
	if s.Err != nil {
		return projection.FactOfNewer(s.ID)
	}
	return projection.FactOf(s.Event)
}

func (f *facts) add(mark projection.Mark, list []projection.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set.Add(list...)
	f.enter(mark, list)
}

// enter says that the set has taken in the facts of the list. The mark holds
// from then on. It is not written down while something is set aside, so that
// the next process looks again: it may have been mended. The caller holds mu.
func (f *facts) enter(mark projection.Mark, list []projection.Fact) {
	if mark.Tree != [20]byte{} {
		mark.Events = f.set.Count()
	}
	f.mark = mark
	if len(f.damaged) > 0 {
		mark = projection.Mark{}
	}
	f.save(func(file *projection.File) error { return file.Append(mark, list...) })
}
