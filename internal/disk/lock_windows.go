package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// The lock is on one byte far behind the record: on Windows a locked range cannot be read by others.
const lockedByteHigh = 1 << 30

func tryLockFile(f *os.File) (bool, error) {
	err := lockFileEx(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func waitLockFile(f *os.File) (bool, error) {
	err := lockFileEx(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
	return err == nil, err
}

func lockFileEx(f *os.File, flags uint32) error {
	at := &windows.Overlapped{OffsetHigh: lockedByteHigh}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

func unlockFile(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: lockedByteHigh}
	if err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, at); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}
