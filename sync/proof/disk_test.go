package proof_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cairn/internal/disk"
	"cairn/internal/disk/disktest"
)

// quick is the real file system without the waiting, for what does not depend on power.
var quick = disktest.Unsynced(disk.OS)

// longAgo makes everything below dir look as old as it does after a power cut: from before the system was started.
func longAgo(dir string) error {
	then := time.Now().AddDate(-10, 0, 0)
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, then, then)
	})
}
