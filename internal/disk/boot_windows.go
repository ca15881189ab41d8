package disk

import (
	"time"

	"golang.org/x/sys/windows"
)

func bootTime() (time.Time, error) {
	return time.Now().Add(-windows.DurationSinceBoot()), nil
}

func bootID() (string, error) { return timeOfBoot() }
