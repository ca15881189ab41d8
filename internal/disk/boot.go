package disk

import (
	"strconv"
	"time"
)

// BootTime returns when the system was started, to the second or so. No process is older, so whatever a process should
// have removed at its end and that was made before is left over from a power cut.
func BootTime() (time.Time, error) { return bootTime() }

// BootID names the time since the system was started. While it stays the same nothing was lost that a process has written,
// synced or not; after another start it is another one. It may change without one, when the clock is set.
func BootID() (string, error) { return bootID() }

// timeOfBoot is a BootID for systems that give none themselves.
func timeOfBoot() (string, error) {
	t, err := bootTime()
	return strconv.FormatInt(t.Unix(), 10), err
}
