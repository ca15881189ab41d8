package gitstore

import (
	"errors"
	"io/fs"
	"path/filepath"

	"cairn/internal/disk"
)

// makeDir makes dir and its missing parents, each durable before the next.
func makeDir(fsys disk.FS, dir string) error {
	info, err := fsys.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("a file is in the way")}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDir(fsys, parent); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}
