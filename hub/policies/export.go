package policies

import (
	"context"
	"fmt"
	"path/filepath"

	"cairn/internal/atomicfile"
	"cairn/internal/disk"
	"cairn/policy/versions"
)

// Export makes dir a copy of the folder for Signed: every version, every file and
// the team's key for fingerprints, but nothing that waits. Only what is not there
// already is written, each file whole and a version after its file, so that who
// looks meanwhile finds the state before or after. It returns the number of the
// newest version; one below the first, and no folder, if there is none. Errors:
// those of Active, and the context's.
func (s *Store) Export(ctx context.Context, dir string) (newest int, err error) {
	s.mu.Lock()
	err = s.level()
	chain := s.chain
	s.mu.Unlock()
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
	for _, v := range chain {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return newest, err
		}
		err = s.exportVersion(to, v)
	}
	return newest, err
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
