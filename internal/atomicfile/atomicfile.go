package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"cairn/internal/disk"
)

// ErrNotRegular means that the path is there and is not a plain file: a symbolic link, a directory, a device. Nothing
// was changed. Resolve the link, or choose another path.
var ErrNotRegular = errors.New("not a plain file")

// Write replaces path by a file that holds exactly data and has exactly the permissions perm, whatever the umask. The
// directory must exist; a temporary file appears in it for a moment. On an error the former file is untouched, except
// when only the last step failed, syncing the directory: then the new file is in place and a power cut may undo it.
func Write(fsys disk.FS, path string, data []byte, perm fs.FileMode) error {
	if err := write(fsys, path, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func write(fsys disk.FS, path string, data []byte, perm fs.FileMode) error {
	if err := checkTarget(fsys, path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	tmp, err := writeTemp(fsys, dir, "."+filepath.Base(path)+".*.tmp", data, perm)
	if err != nil {
		return err
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return errors.Join(err, fsys.Remove(tmp))
	}
	return fsys.SyncDir(dir)
}

func checkTarget(fsys disk.FS, path string) error {
	info, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	return nil
}

// writeTemp leaves a complete, synced file behind, or none.
func writeTemp(fsys disk.FS, dir, pattern string, data []byte, perm fs.FileMode) (name string, err error) {
	// Nobody else may look at the contents before they have their final permissions.
	f, err := disk.CreateTemp(fsys, dir, pattern, 0o600)
	if err != nil {
		return "", err
	}
	err = fill(fsys, f, data, perm)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", errors.Join(err, fsys.Remove(f.Name()))
	}
	return f.Name(), nil
}

func fill(fsys disk.FS, f disk.File, data []byte, perm fs.FileMode) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := fsys.Chmod(f.Name(), perm); err != nil {
		return err
	}
	return f.Sync()
}
