package disk

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long a rename or removal is tried again, openPatience how long the opening of a file that is being
// replaced at this moment.
const (
	patience     = time.Second
	openPatience = 100 * time.Millisecond
)

// patiently runs op until it succeeds, fails for good, or patience ends. Another process that has the file open, often a
// virus scanner or an indexer, makes a rename or a removal fail for a moment.
func patiently(op func() error) error { return retry(patience, op) }

func retry(limit time.Duration, op func() error) error {
	wait := time.Millisecond
	deadline := time.Now().Add(limit)
	for {
		err := op()
		if err == nil || !inUse(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(wait + rand.N(wait))
		wait = min(2*wait, 100*time.Millisecond)
	}
}

func openFile(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = retry(openPatience, func() error {
		f, err = os.OpenFile(name, flag, perm)
		return err
	})
	return f, err
}

// rename replaces a read-only target as well, as other systems do.
func rename(oldname, newname string) error {
	err := os.Rename(oldname, newname)
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	if info, statErr := os.Lstat(newname); statErr == nil && info.Mode().Perm()&0o200 == 0 {
		if chmodErr := os.Chmod(newname, 0o666); chmodErr != nil {
			return err
		}
		return os.Rename(oldname, newname)
	}
	return err
}

func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// syncDir does nothing: Windows cannot sync a directory, and NTFS journals names.
func syncDir(string) error { return nil }

func full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func readOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }
