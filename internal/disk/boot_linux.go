package disk

import (
	"fmt"
	"os"
	"strings"
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

func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return timeOfBoot() // as in a container without /proc
	}
	return strings.TrimSpace(string(id)), nil
}
