package disk

import "time"

// BootTime returns when the system was started, to the second or so. No process is older, so whatever a process should
// have removed at its end and that was made before is left over from a power cut.
func BootTime() (time.Time, error) { return bootTime() }
