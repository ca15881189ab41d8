//go:build !windows

package disk

import "errors"

// Private returns why a file with a key in it is not to be used: others can
// read it. It is nil for one that only its owner can, as ssh asks for.
func Private(fsys FS, path string) error {
	info, err := fsys.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("others can read it: run chmod 600 on it")
	}
	return nil
}
