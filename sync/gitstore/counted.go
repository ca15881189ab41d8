package gitstore

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
)

// Counted is what the history of a commit holds.
type Counted struct {
	Tip   plumbing.Hash
	Tally Tally
}

const countedMark = "cairn counted 1"

func (s *Store) counted() string { return s.path("objects", "info", "cairn-counted") }

// Counted returns what SetCounted wrote last, or nothing if that is not to be found or not to be understood: it only
// saves counting.
func (s *Store) Counted() (Counted, error) {
	if err := s.alive(); err != nil {
		return Counted{}, err
	}
	data, err := disk.ReadFile(s.fs, s.counted())
	if err != nil {
		return Counted{}, ignoreNotExist(err)
	}
	lines := strings.Split(string(data), "\n")
	var c Counted
	if len(lines) != 4 || lines[0] != countedMark || !plumbing.IsHash(lines[1]) || c.Tally.UnmarshalText([]byte(lines[2])) != nil {
		return Counted{}, nil
	}
	c.Tip = plumbing.NewHash(lines[1])
	return c, nil
}

// SetCounted keeps c for the next who opens the repository.
func (s *Store) SetCounted(c Counted) error {
	if err := s.alive(); err != nil {
		return err
	}
	tally, err := c.Tally.MarshalText()
	if err != nil {
		return err
	}
	if err = s.fs.MkdirAll(s.path("objects", "info"), 0o755); err == nil {
		err = atomicfile.Write(s.fs, s.counted(), fmt.Appendf(nil, "%s\n%s\n%s\n", countedMark, c.Tip, tally), 0o444)
	}
	if err != nil {
		return fmt.Errorf("keep what the history holds: %w", err)
	}
	return nil
}
