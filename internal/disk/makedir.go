package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MakeDir makes dir and its missing parents, each durable before the next: unlike after MkdirAll, what is put into dir and
// synced is found after a power cut.
func MakeDir(fsys FS, dir string, perm fs.FileMode) error {
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
	if err := MakeDir(fsys, parent, perm); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}
