package policies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/policy/versions"
)

// Export makes dir a copy of the folder for Signed: every version, every file and
// the team's key for fingerprints, but nothing that waits. Only what is not there
// already is written, each file whole and a version after its file. So who looks
// meanwhile, or after an export that broke off, finds a version that was in force,
// none older than before; and none at all in a first copy that is not whole. It
// returns the number of the newest version; one below the first, and no folder, if
// there is none. Errors: those of Active, and the context's.
func (s *Store) Export(ctx context.Context, dir string) (newest int, err error) {
	chain, err := s.Since(versions.First-1, math.MaxInt)
	newest = versions.First - 1 + len(chain)
	if err != nil || len(chain) == 0 {
		return newest, err
	}
	to := &Store{fs: s.fs, dir: dir}
	if err := disk.MakeDir(s.fs, filepath.Join(dir, filesDir), 0o700); err != nil {
		return newest, err
	}
	prints, err := s.Prints()
	if err == nil && prints != nil {
		_, err = atomicfile.WriteChanged(s.fs, to.printsPath(), prints, 0o600)
	}
	if err != nil {
		return newest, err
	}
	// Without the first version a folder says nothing: in a new one it comes last.
	if _, err := s.fs.Lstat(to.versionPath(versions.First)); errors.Is(err, fs.ErrNotExist) {
		chain = slices.Clone(chain)
		slices.Reverse(chain)
	} else if err != nil {
		return newest, err
	}
	for _, v := range chain {
		if err := ctx.Err(); err != nil {
			return newest, err
		}
		if err := s.exportVersion(to, v); err != nil {
			return newest, err
		}
	}
	return newest, nil
}

func (s *Store) exportVersion(to *Store, v versions.Version) error {
	text, err := s.File(v.File)
	if err == nil {
		_, err = atomicfile.WriteChanged(s.fs, to.filePath(v.File), text, 0o600)
	}
	if err == nil {
		_, err = atomicfile.WriteChanged(s.fs, to.versionPath(v.Number), stored(v), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write policy version %d: %w", v.Number, err)
	}
	return nil
}
