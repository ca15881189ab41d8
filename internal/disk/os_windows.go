package disk

import (
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/windows"
)

// patiently runs op until it succeeds, fails for good, or about a second has passed. Another process that has the
// file open, often a virus scanner or an indexer, makes a rename or a removal fail for a moment.
func patiently(op func() error) error {
	wait := time.Millisecond
	deadline := time.Now().Add(time.Second)
	for {
		err := op()
		if err == nil || !passing(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(wait + rand.N(wait))
		wait = min(2*wait, 100*time.Millisecond)
	}
}

func passing(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// syncDir does nothing: Windows cannot sync a directory, and NTFS journals names.
func syncDir(string) error { return nil }
