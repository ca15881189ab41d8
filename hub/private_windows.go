package hub

import "cairn/internal/disk"

// checkPrivate trusts the access list of the folder, which the bits of a file
// mode do not show.
func checkPrivate(disk.FS, string) error { return nil }
