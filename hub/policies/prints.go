package policies

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// printsFile holds the team's key for fingerprints of values that a policy
// excuses: random bytes, so that nobody outside the team can test a guess.
const printsFile = "prints.key"

const printsSize = 32

// Prints is the team's key for fingerprints; nil before the first proposal.
// Without it nothing is excused.
func (s *Store) Prints() ([]byte, error) {
	b, err := disk.ReadFile(s.fs, s.printsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key for fingerprints: %w", err)
	}
	return b, nil
}

// makePrints makes the key, once. Called with the lock.
func (s *Store) makePrints() error {
	if b, err := s.Prints(); err != nil || len(b) == printsSize {
		return err
	}
	key := make([]byte, printsSize)
	if _, err := rand.Read(key); err != nil {
		return fmt.Errorf("make the key for fingerprints: %w", err)
	}
	return atomicfile.Write(s.fs, s.printsPath(), key, 0o600)
}

func (s *Store) printsPath() string { return filepath.Join(s.dir, printsFile) }
