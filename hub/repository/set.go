package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/internal/commitform"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/internal/hubwire"
	"cairn/internal/invite"
	"cairn/internal/problem"
	"cairn/policy/scope"
	"cairn/sync/eventlog"
	"cairn/sync/gitstore"
)

// Where repositories lie in a hub's folder.
const (
	sharedDir = "spaces"
	peopleDir = "people"
	suffix    = ".git"
)

// cacheBytes bounds the objects that are remembered of all repositories.
const cacheBytes = 16 << 20

// A Set is all repositories of one hub. It is safe for concurrent use, and
// other processes may make spaces meanwhile.
type Set struct {
	fs       disk.FS
	dir      string
	limits   Limits
	log      *slog.Logger
	arrivals *entrance // for as long as a push is under way
	looks    *entrance // while it is looked at
	feed     *Feed
	cache    *gitstore.Cache // of all repositories together, however many are open

	mu      sync.Mutex // guards open and opening
	open    map[string]*Repository
	opening map[string]chan struct{} // closed when it has come to an end
}

// NewSet is the set of repositories below the folder dir, which must exist.
func NewSet(fsys disk.FS, dir string, limits Limits, log *slog.Logger) *Set {
	limits = limits.WithDefaults()
	return &Set{
		fs: fsys, dir: dir, limits: limits, log: log,
		arrivals: newEntrance(limits.Arriving, limits.Arriving/8), looks: newEntrance(limits.Pushes, limits.Pushes/2),
		feed: NewFeed(), cache: gitstore.NewCache(cacheBytes), open: map[string]*Repository{}, opening: map[string]chan struct{}{},
	}
}

// Feed is where the changes of all refs are told.
func (s *Set) Feed() *Feed { return s.feed }

// Create makes a shared space with a fresh identity. The error is a
// *problem.Problem if the name cannot be used or is taken.
func (s *Set) Create(name string, now time.Time) (*Repository, error) {
	if !event.ValidSpaceName(name) || name == hubwire.Personal || name == scope.Local || name == hubwire.Audit {
		return nil, &problem.Problem{
			Code:    problem.Usage,
			Message: "this is not a name for a shared space",
			Hint:    "use lower-case letters, digits and dashes, at most 63; personal and local are taken on every machine, audit is what the hub writes",
		}
	}
	dir := s.shared(name)
	if _, err := s.fs.Lstat(dir); err == nil {
		return nil, &problem.Problem{Code: problem.Usage, Message: "the space " + name + " exists already", Hint: "choose another name"}
	}
	return s.create(dir, name, now)
}

// Audit is the space to which the hub alone writes. It is made at the first
// request.
func (s *Set) Audit(now time.Time) (*Repository, error) {
	return s.create(s.shared(hubwire.Audit), hubwire.Audit, now)
}

// Personal is the space that only the devices of one person share. It is made
// at the first request.
func (s *Set) Personal(person string, now time.Time) (*Repository, error) {
	if !invite.ValidPerson(person) {
		return nil, ErrNoSpace
	}
	return s.create(s.personal(person), hubwire.Personal, now)
}

// Shared is the shared space of that name. The error is a *problem.Problem.
func (s *Set) Shared(name string) (*Repository, error) {
	if !event.ValidSpaceName(name) || name == hubwire.Personal {
		return nil, ErrNoSpace
	}
	return s.existing(s.shared(name), name)
}

// PersonalIfMade is the personal space of a person, who has used it before. The
// error is a *problem.Problem.
func (s *Set) PersonalIfMade(person string) (*Repository, error) {
	if !invite.ValidPerson(person) {
		return nil, ErrNoSpace
	}
	return s.existing(s.personal(person), hubwire.Personal)
}

func (s *Set) existing(dir, name string) (*Repository, error) {
	return s.get(dir, name, func(dir string) (*eventlog.Log, error) {
		if _, err := s.fs.Lstat(dir); err != nil {
			return nil, err
		}
		return eventlog.Open(s.fs, dir, name, eventlog.WithCache(s.cache))
	})
}

// Names lists the shared spaces.
func (s *Set) Names() ([]string, error) {
	entries, err := s.fs.ReadDir(filepath.Join(s.dir, sharedDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the spaces: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if ok && e.IsDir() && event.ValidSpaceName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (s *Set) shared(name string) string { return filepath.Join(s.dir, sharedDir, name+suffix) }

func (s *Set) personal(person string) string {
	return filepath.Join(s.dir, peopleDir, person, hubwire.Personal+suffix)
}

func (s *Set) create(dir, name string, now time.Time) (*Repository, error) {
	return s.get(dir, name, func(dir string) (*eventlog.Log, error) {
		if err := disk.MakeDir(s.fs, filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		return eventlog.Create(s.fs, dir, commitform.Space{Name: name, ID: event.NewID(now)}, eventlog.WithCache(s.cache))
	})
}

// get is the repository in dir, opened at the first request. Nobody waits for the
// disk that opens or makes another one.
func (s *Set) get(dir, name string, open func(dir string) (*eventlog.Log, error)) (*Repository, error) {
	r, end := s.beginOpening(dir)
	if r != nil {
		return r, nil
	}
	defer func() { end(r) }()
	r, err := s.read(dir, name, open)
	return r, err
}

// beginOpening is the repository in dir if it is open. Otherwise the caller opens
// it, alone, and ends that with the repository, or with nil.
func (s *Set) beginOpening(dir string) (r *Repository, end func(*Repository)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open[dir] == nil && s.opening[dir] != nil {
		ended := s.opening[dir]
		s.mu.Unlock()
		<-ended
		s.mu.Lock()
	}
	if r := s.open[dir]; r != nil {
		return r, nil
	}
	ended := make(chan struct{})
	s.opening[dir] = ended
	return nil, func(r *Repository) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.opening, dir); r != nil {
			s.open[dir] = r
		}
		close(ended)
	}
}

func (s *Set) read(dir, name string, open func(dir string) (*eventlog.Log, error)) (*Repository, error) {
	log, err := open(dir)
	if err != nil {
		return nil, asProblem(fmt.Errorf("open space %s: %w", name, err))
	}
	// What is purged from now on is news. A purge that broke off before is
	// finished by whoever reads the tips, not here: that may have to wait.
	epoch, err := log.EpochCommit()
	if err != nil {
		return nil, asProblem(errors.Join(fmt.Errorf("open space %s: %w", name, err), log.Close()))
	}
	return newRepository(s, log, dir, epoch), nil
}

// Look notices in every open repository what another process has purged.
func (s *Set) Look(ctx context.Context) error {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	var errs []error
	for _, r := range open {
		if err := r.Look(ctx); err != nil {
			errs = append(errs, fmt.Errorf("look at space %s: %w", r.Space().Name, err))
		}
	}
	return errors.Join(errs...)
}

// Close releases every repository, after their background work has ended. No
// session may be running.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for dir, r := range s.open {
		errs = append(errs, r.close())
		delete(s.open, dir)
	}
	return errors.Join(errs...)
}
