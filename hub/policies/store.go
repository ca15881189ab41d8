package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cairn/internal/device"
	"cairn/internal/disk"
	"cairn/internal/event"
	"cairn/policy/versions"
)

// Names in the folder.
const (
	filesDir     = "files"
	proposalFile = "proposal.json"
	lockName     = "lock" // never renamed or removed; whoever changes the folder holds it
	suffix       = ".json"
	fileSuffix   = ".yaml"
)

// A Store is the folder of one hub. It is safe for concurrent use.
type Store struct {
	fs     disk.FS
	dir    string
	key    device.Key
	anchor versions.Anchor
	stands func(versions.Approval) (bool, error)
	parser parser
	now    func() time.Time

	mu     sync.Mutex // guards chain and active
	chain  []versions.Version
	active *Active
}

// An Active is the version in force, with its file.
type Active struct {
	versions.Version
	Text []byte
}

// Open is the store in dir, which need not exist yet; key is the hub's. stands
// says whether who has approved what still waits could do so now, and now is
// the clock by which versions come into force. Open reads nothing.
func Open(fsys disk.FS, dir string, hub event.ID, key device.Key, stands func(versions.Approval) (bool, error), now func() time.Time) *Store {
	return &Store{fs: fsys, dir: dir, key: key, stands: stands, now: now, anchor: versions.Anchor{Hub: hub, Key: key.Public()}}
}

// Active is the version in force at this moment, also if another process has
// just made it so; nil before the first. Do not change it. Errors:
// *CorruptError, or one of the file system.
func (s *Store) Active() (*Active, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.level(); err != nil {
		return nil, err
	}
	return s.active, nil
}

// Since lists up to most versions after number n, oldest first.
func (s *Store) Since(n, most int) ([]versions.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.level(); err != nil {
		return nil, err
	}
	from := min(max(n+1-versions.First, 0), len(s.chain))
	return s.chain[from : from+min(most, len(s.chain)-from)], nil
}

// Version is the version of that number. The error is ErrNone if there is none.
func (s *Store) Version(n int) (versions.Version, error) {
	list, err := s.Since(n-1, 1)
	if err == nil && (len(list) == 0 || list[0].Number != n) {
		err = ErrNone
	}
	if err != nil {
		return versions.Version{}, err
	}
	return list[0], nil
}

// File is a policy file by its hash.
func (s *Store) File(h versions.Hash) ([]byte, error) {
	b, err := disk.ReadFile(s.fs, s.filePath(h))
	if errors.Is(err, fs.ErrNotExist) || err == nil && versions.HashOf(b) != h {
		return nil, s.corrupt(fmt.Errorf("the policy file %s is missing or was changed", h.Short()))
	}
	return b, err
}

// level takes in the versions that have come since it was called last. Called
// with mu held.
func (s *Store) level() error {
	last, err := s.newest()
	if err != nil || last == s.last() {
		return err
	}
	chain := s.chain
	if last < s.last() {
		return s.corrupt(fmt.Errorf("version %d was in force here and is gone", s.last()))
	}
	for n := s.last() + 1; n <= last; n++ {
		v, err := s.read(n)
		if err != nil {
			return err
		}
		var before *versions.Version
		if len(chain) > 0 {
			before = &chain[len(chain)-1]
		}
		if err := s.anchor.Check(before, v); err != nil {
			return s.corrupt(err)
		}
		chain = append(chain, v)
	}
	active, err := s.withFile(chain[len(chain)-1])
	if err == nil {
		s.chain, s.active = chain, active
	}
	return err
}

func (s *Store) last() int { return versions.First - 1 + len(s.chain) }

// newest is the greatest number that has a file.
func (s *Store) newest() (int, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list the policy versions: %w", err)
	}
	last := versions.First - 1
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if n, err := strconv.Atoi(name); ok && err == nil && strconv.Itoa(n) == name {
			last = max(last, n)
		}
	}
	return last, nil
}

func (s *Store) read(n int) (versions.Version, error) {
	b, err := disk.ReadFile(s.fs, s.versionPath(n))
	if errors.Is(err, fs.ErrNotExist) {
		return versions.Version{}, s.corrupt(fmt.Errorf("version %d is missing", n))
	}
	if err != nil {
		return versions.Version{}, fmt.Errorf("read policy version %d: %w", n, err)
	}
	v, err := versions.Decode(bytes.TrimSuffix(b, []byte("\n")))
	if err != nil || v.Number != n {
		return versions.Version{}, s.corrupt(fmt.Errorf("version %d is damaged", n))
	}
	return v, nil
}

// withFile looks up the version's file. Whether this program understands it is
// for others to find out.
func (s *Store) withFile(v versions.Version) (*Active, error) {
	text, err := s.File(v.Proposal.File)
	if err != nil {
		return nil, err
	}
	return &Active{Version: v, Text: text}, nil
}

func (s *Store) corrupt(err error) error { return &CorruptError{Dir: s.dir, Err: err} }

func (s *Store) versionPath(n int) string { return filepath.Join(s.dir, strconv.Itoa(n)+suffix) }

func (s *Store) filePath(h versions.Hash) string {
	return filepath.Join(s.dir, filesDir, h.String()+fileSuffix)
}

func (s *Store) proposalPath() string { return filepath.Join(s.dir, proposalFile) }
