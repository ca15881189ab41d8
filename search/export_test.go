package search

import (
	"time"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
)

// Impatient is opt with little time between attempts to write.
func Impatient(opt Options) Options {
	opt.pause = time.Millisecond
	return opt
}

// Unsynced is opt without waiting for the disk.
func Unsynced(opt Options) Options {
	opt.FS = disktest.Unsynced(disk.OS)
	return opt
}

// PairGroup is the group of a word and the next.
var PairGroup = pairGroup
