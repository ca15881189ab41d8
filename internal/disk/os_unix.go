//go:build !windows

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

func rename(oldname, newname string) error { return os.Rename(oldname, newname) }

// patiently runs op once: here an open file never stands in the way of a rename or a removal.
func patiently(op func() error) error { return op() }

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

func inUse(error) bool { return false }

func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
