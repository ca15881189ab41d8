//go:build !linux

package disk

import "os"

// datasync is a whole Sync: macOS and Windows have no lesser call that reaches the device.
func datasync(f *os.File) error { return f.Sync() }
