package disk

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

func bootTime() (time.Time, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, fmt.Errorf("ask how long the system is up: %w", err)
	}
	return time.Now().Add(-time.Duration(up.Nano())), nil
}
