package gitstore

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cairn/internal/disk"
)

// racyTime is how far apart two changes of a directory must be to be told apart by its time stamp, on file systems
// with coarse clocks.
const racyTime = 2 * time.Second

// A packList knows which packs there are. Other programs add and remove packs at any time, so the list is a guess until
// refresh has been asked.
type packList struct {
	fs       disk.FS
	dir      string
	files    *handles
	forget   func(gone func(*pack) bool) // what is remembered of packs
	optional bool                        // the directory may be missing: then there is no pack

	current atomic.Pointer[[]*pack] // newest first; replaced as a whole, never changed
	hit     atomic.Pointer[pack]    // where the last object was found

	mu      sync.Mutex // guards what follows, and storing into current
	listed  bool
	changed time.Time // the directory's time stamp when it was listed
	at      time.Time // when it was listed
}

func (l *packList) init(fsys disk.FS, dir string, files *handles, forget func(gone func(*pack) bool)) {
	l.fs, l.dir, l.files, l.forget = fsys, dir, files, forget
	l.current.Store(&[]*pack{})
}

// all returns the packs as last seen; it lists the directory only if that was never done.
func (l *packList) all() ([]*pack, error) {
	l.mu.Lock()
	listed := l.listed
	l.mu.Unlock()
	if !listed {
		if _, err := l.refresh(); err != nil {
			return nil, err
		}
	}
	return *l.current.Load(), nil
}

// refresh looks at the directory again if it may have changed, and reports whether the list did.
func (l *packList) refresh() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	info, err := l.fs.Stat(l.dir)
	if l.optional && isGone(err) {
		l.listed = true
		return l.replace(nil)
	}
	if err != nil {
		return false, err
	}
	if l.listed && info.ModTime().Equal(l.changed) && l.at.Sub(l.changed) > racyTime {
		return false, nil
	}
	bases, err := l.read()
	if err != nil {
		return false, err
	}
	l.listed, l.changed, l.at = true, info.ModTime(), now
	return l.replace(bases)
}

// read returns the paths of all packs that have an index, without extension. It goes by no other part of the name: git's
// maintenance calls packs "loose-...".
func (l *packList) read() (map[string]bool, error) {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	bases := map[string]bool{}
	for name := range names {
		if stem, ok := strings.CutSuffix(name, ".idx"); ok && names[stem+".pack"] {
			bases[filepath.Join(l.dir, stem)] = true
		}
	}
	return bases, nil
}

// replace makes bases the list, keeping the packs that stay. The caller holds mu.
func (l *packList) replace(bases map[string]bool) (changed bool, err error) {
	var kept, added []*pack
	var errs []error
	gone := map[*pack]bool{}
	for _, p := range *l.current.Load() {
		if bases[p.base] {
			kept = append(kept, p)
			delete(bases, p.base)
		} else {
			changed = true
			l.hit.CompareAndSwap(p, nil)
			gone[p] = true
			errs = append(errs, p.drop())
		}
	}
	for base := range bases {
		changed = true
		added = append(added, &pack{files: l.files, fs: l.fs, base: base})
	}
	if changed {
		next := append(added, kept...)
		l.current.Store(&next)
	}
	if len(gone) > 0 {
		l.forget(func(p *pack) bool { return gone[p] })
	}
	return changed, errors.Join(errs...)
}

// add puts a pack that was just written in front, so that this process need not look for it.
func (l *packList) add(base string) *pack {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := *l.current.Load()
	for _, p := range now {
		if p.base == base {
			return p
		}
	}
	p := &pack{files: l.files, fs: l.fs, base: base}
	next := append([]*pack{p}, now...)
	l.current.Store(&next)
	return p
}

// each calls f with the packs as last seen, the one that was right last time first, until f returns true.
func (l *packList) each(f func(*pack) bool) error {
	packs, err := l.all()
	if err != nil {
		return err
	}
	first := l.hit.Load()
	if first != nil && f(first) {
		return nil
	}
	for _, p := range packs {
		if p != first && f(p) {
			l.hit.Store(p)
			return nil
		}
	}
	return nil
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
