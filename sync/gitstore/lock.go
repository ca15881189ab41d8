package gitstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/internal/disk"
)

// A Lock is the exclusive right to append to a repository, among all processes that use this package. Stock git does not
// know it; refs have git's own locks besides.
type Lock struct {
	s    *Store
	file *disk.FileLock
}

// Lock waits for the append lock until ctx ends. It is needed by whoever reads a ref, builds on it and updates it, so that
// nobody does so for nothing; single calls are safe without it. The lock is a system lock on DIR/append.lock, so it ends
// with its process. A ref's lock file that a killed holder left behind is removed.
//
// The caller calls Unlock, and does not call Lock again before that. It must not hold the lock while it waits for the
// network or an index.
func (s *Store) Lock(ctx context.Context) (*Lock, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	file, err := disk.Lock(ctx, s.path("append.lock"))
	if err != nil {
		return nil, fmt.Errorf("lock repository: %w", err)
	}
	if err := s.cleanUpAfter(file); err != nil {
		return nil, errors.Join(err, file.Unlock())
	}
	s.mu.Lock()
	s.held = file
	s.mu.Unlock()
	return &Lock{s: s, file: file}, nil
}

// Unlock releases the lock. It must be called exactly once, before the Store is closed.
func (l *Lock) Unlock() error {
	err := l.s.releaseKeeps()
	l.s.mu.Lock()
	l.s.held = nil
	l.s.mu.Unlock()
	return errors.Join(err, l.file.Unlock())
}

// An intent announces that a lock file is about to appear: which file it is for, and how its contents will begin. It
// stands in append.lock meanwhile, so that the next holder can tell that lock file from another program's if this process
// is killed.
type intent struct {
	path  string
	begin string
}

// lockedFiles are what we change under a lock file besides refs.
var lockedFiles = []string{"HEAD", "packed-refs", "config"}

// intentBytes is how much of a file's contents is announced.
const intentBytes = 64

// declare announces lock files. The returned function takes the words back, unless one of the lock files could not be
// removed: then the next holder does it, as if this process had been killed.
//
// Without the append lock it is taken for this purpose, if it is free. If it is not, nothing is declared; then a kill in
// the wrong millisecond costs the next writer a *RefLockedError.
func (s *Store) declare(intents ...intent) (func() error, error) {
	note, err := s.intentNote(intents)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		return s.clearNote, s.held.SetNote(note)
	}
	own, err := disk.TryLock(s.path("append.lock"))
	if _, taken := errors.AsType[*disk.LockedError](err); taken {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.cleanUpAfter(own), own.SetNote(note)); err != nil {
		return nil, errors.Join(err, own.Unlock())
	}
	return func() error {
		if s.lockLeft.Swap(false) {
			return own.Unlock()
		}
		return errors.Join(own.SetNote(""), own.Unlock())
	}, nil
}

func (s *Store) clearNote() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.lockLeft.Swap(false) {
		return nil
	}
	return s.held.SetNote("")
}

func (s *Store) intentNote(intents []intent) (string, error) {
	var note strings.Builder
	for _, in := range intents {
		rel, err := filepath.Rel(s.dir, in.path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&note, "%s %q\n", filepath.ToSlash(rel), in.begin[:min(len(in.begin), intentBytes)])
	}
	return note.String(), nil
}

// cleanUpAfter removes the lock files that the last holder declared, if it was killed before it was done. Whether it lives
// does not matter: we hold the lock that it held.
func (s *Store) cleanUpAfter(l *disk.FileLock) error {
	if l.Left() == "" {
		return nil
	}
	for line := range strings.Lines(l.Left()) {
		rel, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		begin, err := strconv.Unquote(quoted)
		if err != nil || !slices.Contains(lockedFiles, rel) && checkRefName(rel) != nil {
			continue // not ours; without our mark no lock file is touched
		}
		if err := s.removeLeftLock(s.path(filepath.FromSlash(rel))+".lock", begin); err != nil {
			return fmt.Errorf("clean up after a killed process: %w", err)
		}
	}
	return l.SetNote("")
}

// removeLeftLock removes lock if its contents can be those that were declared, complete or not.
func (s *Store) removeLeftLock(lock, begin string) error {
	have, err := s.lockContents(lock)
	if err != nil {
		return ignoreNotExist(err)
	}
	if !strings.HasPrefix(begin, have) && (begin == "" || !strings.HasPrefix(have, begin)) {
		return nil
	}
	return ignoreNotExist(s.fs.Remove(lock))
}

// lockContents reads a lock file. One that is empty may be stock git's, which removes a loose ref under an empty lock file:
// that one is given the time in which it goes or gets contents.
func (s *Store) lockContents(lock string) (string, error) {
	for deadline := time.Now().Add(s.refWait); ; time.Sleep(5 * time.Millisecond) {
		data, err := disk.ReadFile(s.fs, lock)
		if err != nil || len(data) > 0 || time.Now().After(deadline) {
			return string(data), err
		}
	}
}
