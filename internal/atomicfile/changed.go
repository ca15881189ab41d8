package atomicfile

import (
	"bytes"
	"io/fs"
	"runtime"

	"cairn/internal/disk"
)

// WriteChanged is Write unless path is already a plain file that holds exactly data, with the permissions perm where the
// system has such. It says whether it wrote.
func WriteChanged(fsys disk.FS, path string, data []byte, perm fs.FileMode) (written bool, err error) {
	if holds(fsys, path, data, perm) {
		return false, nil
	}
	return true, Write(fsys, path, data, perm)
}

// holds is false also where that cannot be told.
func holds(fsys disk.FS, path string, data []byte, perm fs.FileMode) bool {
	info, err := fsys.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != perm {
		return false
	}
	is, err := disk.ReadFile(fsys, path)
	return err == nil && bytes.Equal(is, data)
}
