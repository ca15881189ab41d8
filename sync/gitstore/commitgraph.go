package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"time"

	"cairn/internal/disk"
)

// maxCommitGraph bounds the file that is read into memory: the order of some 15 million commits.
const maxCommitGraph = 1 << 30

// commitGraph is where git keeps what it knows of the order of commits; gitformat-commit-graph(5).
func (s *Store) commitGraph() string { return s.path("objects", "info", "commit-graph") }

// CommitGraph returns git's commit-graph file as it is, or nothing if there is none. What it says may be out of date or
// wrong.
func (s *Store) CommitGraph() ([]byte, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	data, err := s.readCommitGraph()
	if err = ignoreNotExist(err); err != nil {
		return nil, fmt.Errorf("read the commit-graph: %w", err)
	}
	return data, nil
}

func (s *Store) readCommitGraph() (_ []byte, err error) {
	f, err := disk.Open(s.fs, s.commitGraph())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxCommitGraph {
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// SetCommitGraph replaces git's commit-graph file by what write writes, for every git to use. Nothing depends on the
// file, so it is not synced: one that a power cut damages is passed over for its checksum. The append lock is taken only
// at the end, so the caller must not hold it; still is asked under it whether the file may take its place, because the
// history may have been rewritten meanwhile.
func (s *Store) SetCommitGraph(ctx context.Context, write func(io.Writer) error, still func() (bool, error)) error {
	if err := s.alive(); err != nil {
		return err
	}
	tmp, err := s.draftCommitGraph(write)
	if err == nil {
		err = s.placeCommitGraph(ctx, tmp, still)
	}
	if err != nil {
		return fmt.Errorf("replace the commit-graph: %w", err)
	}
	return nil
}

// draftGraphFile is the name of the file while it is written.
const draftGraphFile = "new-*.graph-draft"

// DropCommitGraph removes git's commit-graph files. Whoever makes commits unreachable calls it: git itself takes it for
// damage if a file names commits that it has cleaned away since.
func (s *Store) DropCommitGraph() error {
	if err := s.alive(); err != nil {
		return err
	}
	r := remover{s: s}
	if err := r.commitGraphs(); err != nil {
		return fmt.Errorf("remove the commit-graph: %w", err)
	}
	return nil
}

// draftCommitGraph writes the file under another name.
func (s *Store) draftCommitGraph(write func(io.Writer) error) (name string, err error) {
	if err := s.fs.MkdirAll(s.path("objects", "info"), 0o755); err != nil {
		return "", err
	}
	f, err := disk.CreateTemp(s.fs, s.path("objects", "info"), draftGraphFile, 0o444)
	if err != nil {
		return "", err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return "", errors.Join(err, s.fs.Remove(f.Name()))
	}
	return f.Name(), nil
}

func (s *Store) placeCommitGraph(ctx context.Context, tmp string, still func() (bool, error)) (err error) {
	lock, err := s.Lock(ctx)
	if err != nil {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := s.sweepGraphDrafts(tmp); err != nil {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	if ok, err := still(); err != nil || !ok {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	if err := s.fs.Rename(tmp, s.commitGraph()); err != nil {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	return nil
}

// sweepGraphDrafts removes the drafts that writers left who were killed.
func (s *Store) sweepGraphDrafts(but string) error {
	dir := s.path("objects", "info")
	entries, err := s.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		draft, err := path.Match(draftGraphFile, e.Name())
		if err != nil || !draft || file == but {
			continue
		}
		info, err := s.fs.Stat(file)
		if err == nil && time.Since(info.ModTime()) > leftoverAge {
			err = s.fs.Remove(file)
		}
		if err := ignoreNotExist(err); err != nil {
			return err
		}
	}
	return nil
}
