//go:build !windows

package hub

import (
	"errors"

	"cairn/internal/disk"
)

// checkPrivate refuses a key file that others can read, as ssh does.
func checkPrivate(fsys disk.FS, path string) error {
	info, err := fsys.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("others can read it: run chmod 600 on it")
	}
	return nil
}
