package search

import (
	"io/fs"
	"time"

	"cairn/internal/disk"
)

// Impatient is opt with little time between attempts to write.
func Impatient(opt Options) Options {
	opt.pause = time.Millisecond
	return opt
}

// Unsynced is opt without waiting for the disk.
func Unsynced(opt Options) Options {
	opt.FS = unsynced{disk.OS}
	return opt
}

// unsynced is a file system that does not wait for the disk.
type unsynced struct{ disk.FS }

func (u unsynced) SyncDir(string) error { return nil }

func (u unsynced) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	return unsyncedFile{f}, err
}

type unsyncedFile struct{ disk.File }

func (unsyncedFile) Sync() error { return nil }
