//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

func bootTime() (time.Time, error) {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, fmt.Errorf("ask when the system was started: %w", err)
	}
	return time.Unix(tv.Unix()), nil
}

func bootID() (string, error) { return timeOfBoot() }
