package cputime

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processClock marks a clock id as that of all threads of a process, in the
// kernel's own nanoseconds; see clock_getcpuclockid(3). /proc/PID/stat counts
// in hundredths of a second, which is more than a push takes.
const processClock = 2

func of(pid int) (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &t); err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
