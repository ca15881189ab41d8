package gitstore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"cairn/internal/disk"
)

// keepMark stands in the .keep files that are ours, so that one which a killed process left can be told from a user's.
const keepMark = "cairn: a ref will lead here\n"

// keep protects the pack at base from stock git's garbage collection until releaseKeeps.
func (s *Store) keep(base string) error {
	f, err := s.fs.OpenFile(base+".keep", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil // somebody wants to keep this very pack; that is for them to end
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, keepMark)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.fs.Remove(base+".keep"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeps = append(s.keeps, base+".keep")
	return nil
}

func (s *Store) releaseKeeps() error {
	s.mu.Lock()
	keeps := s.keeps
	s.keeps = nil
	s.mu.Unlock()
	var errs []error
	for _, path := range keeps {
		errs = append(errs, ignoreNotExist(s.fs.Remove(path)))
	}
	return errors.Join(errs...)
}

// removeLeftKeep removes the .keep file at path if it is ours, also one that a power cut emptied.
func (s *Store) removeLeftKeep(path string) error {
	mark, err := disk.ReadFile(s.fs, path)
	if err != nil {
		return ignoreNotExist(err)
	}
	if !isKeepMark(mark) {
		return nil
	}
	return ignoreNotExist(s.fs.Remove(path))
}

// isKeepMark reports whether b can be what a power cut left of a keepMark: a part of it may be missing, or zeros.
func isKeepMark(b []byte) bool {
	if len(b) > len(keepMark) {
		return false
	}
	for i, c := range b {
		if c != 0 && c != keepMark[i] {
			return false
		}
	}
	return true
}

func (s *Store) holdsLock() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held != nil
}
